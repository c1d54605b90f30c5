import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { useExecutionList } from "../executions/ExecutionList.tsx"
import { TaskName } from "../executions/TaskLink.tsx"
import { EmptyState } from "../ui/layout/Page.tsx"
import { type Column, List, rowDetailClass, rowTitleClass } from "../ui/lists/List.tsx"
import { ApiMessage } from "../ui/values/ApiMessage.tsx"
import { formatCount } from "../ui/values/format.ts"
import { RelativeTime, ShortTime } from "../ui/values/Time.tsx"
import { type FailureGroup, groupFailures } from "./failureGroups.ts"
import { describeFailure } from "./problems.ts"
import { latestFailuresOptions, type latestFailuresSearch } from "./prefetchOverview.ts"

const maxShownTasks = 8

type Search = typeof latestFailuresSearch & { readonly from?: string; readonly to?: string }

/** Returns the latest failures, grouped by task. Leaves out the tasks that are listed elsewhere. */
export const useLatestFailures = (search: Search, listedTasks: ReadonlySet<string>) => {
  const { workspaceId } = useWorkspace()
  const list = useExecutionList(latestFailuresOptions(workspaceId, search))
  const rows = groupFailures(list.rows)
    .filter(({ latest }) => !listedTasks.has(latest.task_id))
    .slice(0, maxShownTasks)
  return { ...list, rows, hasMore: false }
}

/** The tasks of the latest failures, with a link to the latest failure of each task. */
export const LatestFailures = ({
  list
}: {
  readonly list: ReturnType<typeof useLatestFailures>
}) => (
  <List
    {...list}
    label="Failures by task"
    columns={columns}
    empty={<EmptyState title="No failures" />}
  />
)

const FailedTask = ({ latest }: FailureGroup) => {
  const { id, task_id } = latest
  const { workspaceId } = useWorkspace()
  return (
    <>
      <Link
        to="/w/$workspaceId/executions/$executionId"
        params={{ workspaceId, executionId: id }}
        className={rowTitleClass}
      >
        <TaskName taskId={task_id} />
      </Link>
      <span className={rowDetailClass}>
        <ApiMessage text={describeFailure(latest)} />
      </span>
    </>
  )
}

const columns: ReadonlyArray<Column<FailureGroup>> = [
  {
    key: "task",
    head: "Task",
    className: "grow basis-0",
    cell: (group) => <FailedTask {...group} />
  },
  {
    key: "count",
    head: "Recent failures",
    className: "w-48 shrink-0",
    belowOnPhone: "labelled",
    cell: ({ count, since }) =>
      count === 1 ? (
        "1"
      ) : (
        <>
          {formatCount(count)}, first at <ShortTime at={since} />
        </>
      )
  },
  {
    key: "latest",
    head: "Latest",
    className: "w-28 shrink-0",
    belowOnPhone: "labelled",
    cell: ({ latest }) => <RelativeTime at={latest.finished_at} />
  }
]
