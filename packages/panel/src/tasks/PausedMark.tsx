import type { CronTask } from "@scheduling/sdk"
import { Badge } from "../ui/values/Status.tsx"

/** Shows that a task is paused, and why if the service paused it. */
export const PausedMark = ({
  task: { paused_reason, status }
}: {
  readonly task: Pick<CronTask, "status" | "paused_reason">
}) =>
  status === "paused" && (
    <>
      <Badge tone="warn">Paused</Badge>
      {paused_reason !== undefined && (
        <span className="text-sm font-normal text-faint">{paused_reason}</span>
      )}
    </>
  )
