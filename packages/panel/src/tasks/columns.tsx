import type { CronTask, LastRun } from "@scheduling/sdk"
import type { Column } from "../ui/lists/List.tsx"
import { Status } from "../ui/values/Status.tsx"
import { Ago, At, None } from "../ui/values/Time.tsx"
import { inWords } from "./schedule/inWords.ts"
import { RecentRuns } from "./RecentRuns.tsx"
import { type Repeating, type RepeatingKind, RepeatingMenu } from "./repeating.tsx"

interface Scheduled extends Pick<CronTask, "next_run_at" | "status" | "timezone"> {
  readonly id: string
  readonly schedule: string | null
  readonly last_run: Pick<LastRun, "finished_at" | "status"> | null
}

/** What lists show of everything that repeats. */
export const scheduleColumns: ReadonlyArray<Column<Scheduled>> = [
  {
    key: "schedule",
    head: "Schedule",
    className: "w-56 shrink-0 max-lg:hidden",
    cell: ({ schedule, timezone }) =>
      schedule === null ? (
        <span className="text-faint">Only by hand</span>
      ) : (
        <>
          <span className="block truncate" title={inWords(schedule)}>
            {inWords(schedule)}
          </span>
          <span className="block truncate text-xs text-faint">
            <span className="font-mono">{schedule}</span> · {timezone}
          </span>
        </>
      )
  },
  {
    key: "next",
    head: "Next run",
    className: "w-28 shrink-0 max-sm:hidden",
    cell: ({ next_run_at, status }) =>
      status === "paused" ? (
        <span className="text-faint">Paused</span>
      ) : next_run_at === null ? (
        <None />
      ) : (
        <>
          <Ago at={next_run_at} className="block" />
          <At at={next_run_at} className="block text-xs text-faint" />
        </>
      )
  },
  {
    key: "recent",
    head: "Latest runs",
    className: "w-18 shrink-0 max-md:hidden",
    cell: ({ id }) => <RecentRuns taskId={id} />
  },
  {
    key: "last",
    head: "Last run",
    className: "w-28 shrink-0",
    cell: ({ last_run }) =>
      last_run === null ? (
        <span className="text-faint">None yet</span>
      ) : (
        <>
          <Status of={last_run.status} />
          {last_run.finished_at !== null && (
            <Ago at={last_run.finished_at} className="block pl-4 text-xs text-faint" />
          )}
        </>
      )
  }
]

/** The menu at the end of each row. */
export const menuColumn = (kind: RepeatingKind): Column<Repeating> => ({
  key: "menu",
  head: <span className="sr-only">Actions</span>,
  className: "relative w-8 shrink-0",
  cell: (task) => <RepeatingMenu kind={kind} task={task} />
})
