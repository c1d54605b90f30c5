import type { Chain, CronTask } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Badge } from "../ui/values/Status.tsx"
import { ShortTime } from "../ui/values/Time.tsx"
import { Author, type VersionSource, versionsOptions } from "../versions/Versions.tsx"

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
          {task.paused_reason ?? <Pause task={task} resource={resource} queryKey={queryKey} />}
        </span>
      </>
    )}
  </span>
)

/** Who paused the task and when. Shows nothing if the task has been changed since. */
const Pause = ({ queryKey, resource, task }: TitledTask) => {
  const { data } = useQuery(versionsOptions({ queryKey, resource, record: task }))
  const newest = data?.data[0]
  const isPause = newest?.changes.some(({ field, new: value }) => field === "paused" && value)
  return (
    newest !== undefined &&
    isPause === true && (
      <>
        <ShortTime at={newest.updated_at} /> by <Author actor={newest.updated_by} />
      </>
    )
  )
}
