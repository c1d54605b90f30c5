import type { Execution, ExecutionsListQuery, WorkspaceId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useMemo } from "react"
import { useWorkspace } from "../data/client.ts"
import { useIsLive } from "../data/live.ts"
import { useList } from "../data/queries.ts"
import {
  type Column,
  List,
  rowLinkClass,
  rowTextClass,
  rowTitleClass,
  rowDetailClass
} from "../ui/lists/List.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { Duration, ExactTime, ShortTime } from "../ui/values/Time.tsx"
import { executionQueries } from "./queries.ts"
import { triggerNames } from "./search.ts"
import { TaskName } from "./TaskLink.tsx"

/** Lists past and running executions, newest first, or runs that are scheduled for later. */
export const ExecutionList = ({
  empty,
  isScheduled = false,
  search = {},
  showsTask = false
}: {
  readonly search?: ExecutionsListQuery
  readonly isScheduled?: boolean
  readonly empty: ReactNode
  readonly showsTask?: boolean
}) => {
  const { workspaceId } = useWorkspace()
  const list = useExecutionList(
    isScheduled
      ? executionQueries.scheduled(workspaceId)
      : executionQueries.list(workspaceId, search)
  )
  const columns = useMemo(() => {
    const all = executionColumnsFor(workspaceId, showsTask, isScheduled)
    const hidden = isScheduled ? ["late", "result", "duration"] : []
    return all.filter(({ key }) => ![...rare, ...hidden].includes(key))
  }, [workspaceId, showsTask, isScheduled])
  return <List {...list} label="Executions" columns={columns} empty={empty} />
}

export const useExecutionList = (options: ReturnType<typeof executionQueries.list>) => {
  const isLive = useIsLive()
  return useList({
    ...options,
    // Poll only while live events are unavailable and an execution is unfinished.
    refetchInterval: ({ state }) =>
      !isLive && state.data?.pages[0]?.data.some(isUnfinished) === true ? 2_000 : false
  })
}

const isUnfinished = ({ finished_at }: Execution) => finished_at === null

export const toneOfStatusCode = (code: number) => (code < 300 ? "ok" : code < 400 ? "warn" : "bad")

/** The triggers that the column of results shows too. */
const unusualTriggers = new Set(["manual", "rerun", "backfill"])

/** Columns that are hidden by default. */
const rare: ReadonlyArray<string> = ["trigger", "attempts", "id"]

export const executionColumnsFor = (
  workspaceId: WorkspaceId,
  showsTask: boolean,
  isScheduled = false
): ReadonlyArray<Column<Execution>> => {
  const link = (id: string, className: string, children: ReactNode) => (
    <Link
      to="/w/$workspaceId/executions/$executionId"
      params={{ workspaceId, executionId: id }}
      className={className}
    >
      {children}
    </Link>
  )
  const taskColumn: Column<Execution> = {
    key: "task",
    head: "Task",
    className: "grow basis-0",
    cell: ({ id, kind, scheduled_for, step, task_id }) => (
      <>
        {link(id, rowTitleClass, <TaskName taskId={task_id} />)}
        <span className={rowDetailClass}>
          <ShortTime at={scheduled_for} className="max-sm:hidden lg:hidden" />
          <span className="max-lg:hidden">{kind}</span>
          {step !== null && (
            <>
              <span className="max-sm:hidden"> · </span>
              {step}
            </>
          )}
        </span>
      </>
    )
  }
  return [
    {
      key: "status",
      head: "Status",
      className: "w-28 shrink-0",
      belowOnPhone: showsTask ? "plain" : undefined,
      cell: ({ id, status }) =>
        showsTask ? (
          // The list of delayed tasks calls them pending too.
          <Status of={isScheduled ? "pending" : status} />
        ) : (
          link(id, rowLinkClass, <Status of={status} />)
        )
    },
    ...(showsTask ? [taskColumn] : []),
    {
      key: "due",
      head: "Due",
      className: showsTask
        ? "w-40 shrink-0 sm:max-lg:hidden"
        : "w-40 shrink-0 max-sm:w-28 max-sm:grow",
      belowOnPhone: showsTask ? "plain" : undefined,
      cell: ({ scheduled_for }) => <ExactTime at={scheduled_for} />
    },
    {
      key: "result",
      head: "Result",
      className: showsTask ? "w-44 shrink-0 max-lg:hidden" : "grow basis-0",
      belowOnPhone: "plain",
      cell: ({ error, status_code, trigger }) => (
        <span className="flex items-center gap-2 overflow-hidden">
          {status_code !== null && (
            <Badge tone={toneOfStatusCode(status_code)}>{status_code}</Badge>
          )}
          {unusualTriggers.has(trigger) && <Badge>{triggerNames[trigger]}</Badge>}
          {error !== null && error.message !== `responded with ${status_code}` && (
            <span className={`${rowTextClass} text-soft`} title={error.message}>
              {error.message}
            </span>
          )}
        </span>
      )
    },
    {
      key: "trigger",
      head: "Trigger",
      className: "w-28 shrink-0 truncate text-faint max-md:hidden",
      cell: ({ trigger }) => <span title={triggerNames[trigger]}>{triggerNames[trigger]}</span>
    },
    {
      key: "attempts",
      head: "Attempts",
      className: "w-16 shrink-0 text-right nums text-faint max-md:hidden",
      cell: ({ attempts_count }) => attempts_count
    },
    {
      key: "late",
      head: "Late by",
      className: "w-16 shrink-0 text-right text-faint max-lg:hidden",
      cell: ({ lateness_ms }) => <Duration ms={lateness_ms} />
    },
    {
      key: "duration",
      head: "Duration",
      className: "w-16 shrink-0 text-right",
      cell: ({ duration_ms }) => <Duration ms={duration_ms} />
    },
    {
      key: "id",
      head: "Id",
      className: "w-40 shrink-0 font-mono text-xs text-faint max-md:hidden",
      cell: ({ id }) => <span className="block truncate">{id}</span>
    }
  ]
}
