import type { CronTask, ExecutionKind } from "@scheduling/sdk"
import type { ReactNode } from "react"
import { dependsOnFacts } from "../incidents/DependsOn.tsx"
import { queueFacts } from "../queues/queueFacts.tsx"
import type { FactsByName } from "../ui/layout/Page.tsx"
import { CopyableText } from "../ui/values/Copy.tsx"
import { RelativeTime, ShortTime } from "../ui/values/Time.tsx"
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

/** When a cron task or chain runs next, or why it does not. */
export const nextRunOf = ({
  next_run_at,
  status
}: Pick<CronTask, "next_run_at" | "status">): ReactNode =>
  next_run_at === null ? (
    status === "paused" ? (
      "Paused"
    ) : (
      "None: the schedule has ended"
    )
  ) : (
    <>
      <RelativeTime at={next_run_at} />
      <br />
      <ShortTime at={next_run_at} className="text-faint" />
    </>
  )

export const intervalFacts = ({
  anchor,
  every
}: Pick<CronTask, "anchor" | "every">): FactsByName => ({
  Interval: every,
  "Counted from": anchor && <ShortTime at={anchor} />
})
