import type { CronTask, ExecutionKind, LastRun } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { taskLink } from "../data/tasks.ts"
import {
  type Column,
  menuColumn,
  rowLinkClass,
  rowNameClass,
  rowDetailClass,
  rowLinesClass,
  statusDetailClass
} from "../ui/lists/List.tsx"
import { Status } from "../ui/values/Status.tsx"
import { RelativeTime, ShortTime, EmptyValue } from "../ui/values/Time.tsx"
import { RecentRuns } from "./RecentRuns.tsx"
import {
  type RepeatingTaskKind,
  RepeatingTaskMenu,
  type RepeatingTask
} from "./RepeatingTaskActions.tsx"
import { describeTiming } from "./schedule/describeSchedule.ts"

/** A relative time. Rows with two lines, and phones, also show the full time. */
export const TwoLineTime = ({ at }: { readonly at: string }) => (
  <>
    <RelativeTime at={at} className="sm:block" />
    <ShortTime at={at} className="text-xs text-faint max-sm:ml-2 sm:block compact:hidden" />
  </>
)

export const nameColumn = <Row extends { readonly id: string; readonly workspace_id: string }>(
  kind: ExecutionKind,
  nameOf: (row: Row) => string,
  below: (row: Row) => ReactNode
): Column<Row> => ({
  key: "name",
  head: "Name",
  className: "grow basis-0",
  cell: (row) => (
    <>
      <Link
        {...taskLink(row.workspace_id, kind, row.id)}
        className={`${rowNameClass} ${rowLinkClass}`}
      >
        {nameOf(row)}
      </Link>
      {below(row)}
    </>
  )
})

interface ScheduledRow extends RepeatingTask, Pick<CronTask, "next_run_at" | "timezone"> {
  readonly workspace_id: string
  readonly last_run: Pick<LastRun, "finished_at" | "status"> | null
}

export const repeatingTaskColumns = <Row extends ScheduledRow>(
  kind: RepeatingTaskKind,
  below: (row: Row) => ReactNode
): ReadonlyArray<Column<Row>> => [
  nameColumn(kind.kind, ({ name }) => name, below),
  {
    key: "schedule",
    head: "Schedule",
    className: "w-56 shrink-0 max-lg:hidden xl:w-80",
    cell: (task) => {
      const words = describeTiming(task)
      const namesZone = words?.includes(task.timezone) === true
      return words === undefined ? (
        <span className="text-faint">Manual runs only</span>
      ) : (
        <span className={`block ${rowLinesClass}`}>
          <span className="block truncate" title={`${words}\n${task.schedule ?? ""}`}>
            {words}
          </span>
          {task.schedule !== null && (
            <span className={`${rowDetailClass} compact:max-xl:hidden`}>
              <span className="compact:hidden">
                <span className="font-mono">{task.schedule}</span>
                {!namesZone && " · "}
              </span>
              {!namesZone && task.timezone}
            </span>
          )}
        </span>
      )
    }
  },
  {
    key: "next",
    head: "Next run",
    // With the full time, a phone would need another line.
    className: "w-28 shrink-0 max-sm:order-3 max-sm:[&>time+time]:hidden",
    belowOnPhone: "plain",
    cell: ({ next_run_at, status }) =>
      status === "paused" ? (
        <span className="text-faint">Paused</span>
      ) : next_run_at === null ? (
        <span className="max-sm:hidden">
          <EmptyValue />
        </span>
      ) : (
        <>
          <span className="mr-1 text-faint sm:hidden">Next run</span>
          <TwoLineTime at={next_run_at} />
        </>
      )
  },
  {
    key: "recent",
    head: "Latest runs",
    className: "w-18 shrink-0 text-right max-lg:hidden",
    cell: ({ id }) => <RecentRuns taskId={id} />
  },
  {
    key: "last",
    head: "Last run",
    className: "w-28 shrink-0 lg:w-40",
    belowOnPhone: "plain",
    cell: ({ last_run }) =>
      last_run === null ? (
        <span className="text-faint">
          <span className="max-sm:hidden">None yet</span>
          <span className="sm:hidden">Not run yet</span>
        </span>
      ) : (
        <>
          <Status of={last_run.status} />
          {last_run.finished_at !== null && (
            <RelativeTime at={last_run.finished_at} className={statusDetailClass} />
          )}
        </>
      )
  },
  menuColumn((task) => <RepeatingTaskMenu kind={kind} task={task} />)
]
