import type { Chain, CronTask } from "@scheduling/sdk"
import { Badge } from "../ui/values/Status.tsx"
import { PausedBy } from "../versions/PausedBy.tsx"
import type { VersionSource } from "../versions/Versions.tsx"

interface TitledTask {
  readonly task: CronTask | Chain
  readonly resource: VersionSource["resource"]
  readonly queryKey: VersionSource["queryKey"]
}

/**
 * A task's name, with a badge if it is paused. Beside it are the reason if the service paused the
 * task automatically, and otherwise who paused it and when.
 */
export const TaskTitle = ({ queryKey, resource, task }: TitledTask) => (
  <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
    {task.name}
    {task.status === "paused" && (
      <>
        <Badge tone="warn">Paused</Badge>
        <span className="text-sm font-normal text-faint">
          {task.paused_reason ?? <PausedBy record={task} resource={resource} queryKey={queryKey} />}
        </span>
      </>
    )}
  </span>
)
