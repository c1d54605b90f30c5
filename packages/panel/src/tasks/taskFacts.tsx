import type { CronTask } from "@scheduling/sdk"
import { queueFacts } from "../queues/QueueLink.tsx"
import type { FactsByName } from "../ui/layout/Page.tsx"
import { CopyText } from "../ui/values/Copy.tsx"
import { At } from "../ui/values/Time.tsx"
import { authorFacts } from "../versions/Versions.tsx"
import type { Callbacks } from "./call/callbackValues.ts"
import { firingOptionFacts } from "./schedule/firingOptionFacts.tsx"
import type { FiringOptions } from "./schedule/firingOptionValues.ts"

export const taskFacts = (
  task: Pick<
    CronTask,
    "created_at" | "created_by" | "queue_id" | "tags" | "updated_at" | "updated_by"
  > & { readonly id: string } & Callbacks &
    (FiringOptions | { readonly precision?: undefined })
): FactsByName => ({
  ...(task.precision === undefined ? {} : firingOptionFacts(task)),
  Tags: task.tags.join(", "),
  ...queueFacts(task),
  "Failure callback": task.on_failure?.url,
  "Success callback": task.on_success?.url,
  ...authorFacts(task),
  Id: <CopyText text={task.id} />
})

export const intervalFacts = ({
  anchor,
  every
}: Pick<CronTask, "anchor" | "every">): FactsByName => ({
  Interval: every,
  "Counted from": anchor && <At at={anchor} />
})
