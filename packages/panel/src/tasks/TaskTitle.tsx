import type { CronTask } from "@scheduling/sdk"
import { Badge } from "../ui/values/Status.tsx"

/**
 * A task's name, with a badge if it is paused. If the service paused it automatically, its reason
 * is shown too.
 */
export const TaskTitle = ({
  task: { name, paused_reason, status }
}: {
  readonly task: Pick<CronTask, "name" | "status" | "paused_reason">
}) => (
  <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
    {name}
    {status === "paused" && (
      <>
        <Badge tone="warn">Paused</Badge>
        {paused_reason !== null && (
          <span className="text-sm font-normal text-faint">{paused_reason}</span>
        )}
      </>
    )}
  </span>
)
