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

/** A relative time. Rows with two lines also show the full time. */
export const TwoLineTime = ({ at }: { readonly at: string }) => (
  <>
    <RelativeTime at={at} className="block" />
    <ShortTime at={at} className="block text-xs text-faint compact:hidden" />
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
    className: "w-28 shrink-0 max-sm:hidden md:max-lg:hidden",
    cell: ({ next_run_at, status }) =>
      status === "paused" ? (
        <span className="text-faint">Paused</span>
      ) : next_run_at === null ? (
        <EmptyValue />
      ) : (
        <TwoLineTime at={next_run_at} />
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
    cell: ({ last_run }) =>
      last_run === null ? (
        <span className="text-faint">None yet</span>
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
