import type { CronTask, ExecutionKind } from "@scheduling/sdk"
import { dependsOnFacts } from "../incidents/DependsOn.tsx"
import { queueFacts } from "../queues/queueFacts.tsx"
import type { FactsByName } from "../ui/layout/Page.tsx"
import { CopyableText } from "../ui/values/Copy.tsx"
import { ShortTime } from "../ui/values/Time.tsx"
import { authorFacts } from "../versions/Versions.tsx"
import type { Callbacks } from "./call/callbackValues.ts"
import { firingOptionFacts } from "./schedule/firingOptionFacts.tsx"
import type { FiringOptions } from "./schedule/firingOptionValues.ts"

export const taskFacts = (
  task: Pick<
    CronTask,
    | "created_at"
    | "created_by"
    | "flow"
    | "priority"
    | "queue_id"
    | "tags"
    | "updated_at"
    | "updated_by"
  > & { readonly id: string; readonly depends_on?: CronTask["depends_on"] } & Callbacks &
    (FiringOptions | { readonly precision?: undefined })
): FactsByName => ({
  ...(task.precision === undefined ? {} : firingOptionFacts(task)),
  Tags: task.tags.join(", "),
  ...dependsOnFacts(task.depends_on ?? []),
  ...queueFacts(task),
  "Failure callback": task.on_failure?.url,
  "Success callback": task.on_success?.url,
  ...authorFacts(task),
  Id: <CopyableText text={task.id} />
})

/** Returns what determines who is notified when a task fails. */
export const recipientsSubject = (
  kind: ExecutionKind,
  {
    id,
    on_failure,
    tags
  }: Pick<CronTask, "tags"> & Pick<Callbacks, "on_failure"> & { readonly id: string }
) => ({ kind, id, tags, callback: on_failure?.url })

export const intervalFacts = ({
  anchor,
  every
}: Pick<CronTask, "anchor" | "every">): FactsByName => ({
  Interval: every,
  "Counted from": anchor && <ShortTime at={anchor} />
})
