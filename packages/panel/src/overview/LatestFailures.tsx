import { Link } from "@tanstack/react-router"
import { useMemo } from "react"
import { useWorkspace } from "../data/client.ts"
import { useExecutionList } from "../executions/ExecutionList.tsx"
import { executionQueries } from "../executions/queries.ts"
import { TaskName } from "../executions/TaskLink.tsx"
import { EmptyState } from "../ui/layout/Page.tsx"
import { type Column, List, rowDetailClass, rowTitleClass } from "../ui/lists/List.tsx"
import { ApiMessage } from "../ui/values/ApiMessage.tsx"
import { formatCount } from "../ui/values/format.ts"
import { RelativeTime, ShortTime } from "../ui/values/Time.tsx"
import { type FailureGroup, groupFailures } from "./failureGroups.ts"
import type { latestFailuresSearch } from "./prefetchOverview.ts"

const maxShownTasks = 8

/** The tasks of the latest failures, with a link to the latest failure of each task. */
export const LatestFailures = ({
  search
}: {
  readonly search: typeof latestFailuresSearch & { readonly from?: string; readonly to?: string }
}) => {
  const { workspaceId } = useWorkspace()
  const list = useExecutionList(executionQueries.list(workspaceId, search))
  const rows = useMemo(() => groupFailures(list.rows).slice(0, maxShownTasks), [list.rows])
  return (
    <List
      {...list}
      rows={rows}
      hasMore={false}
      label="Failures by task"
      columns={columns}
      empty={<EmptyState title="No failures" />}
    />
  )
}

const FailedTask = ({ latest: { error, id, step, task_id } }: FailureGroup) => {
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
        <ApiMessage text={[step, error?.message].filter((part) => part != null).join(" · ")} />
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
    className: "w-48 shrink-0 max-sm:w-28",
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
    className: "w-28 shrink-0 max-sm:hidden",
    cell: ({ latest }) => <RelativeTime at={latest.finished_at} />
  }
]
