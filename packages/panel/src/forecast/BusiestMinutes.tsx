import type { Forecast } from "@scheduling/sdk"
import { TaskLink } from "../executions/TaskLink.tsx"
import { Card } from "../ui/layout/Page.tsx"
import { formatCount } from "../ui/values/format.ts"
import { RelativeTime, ShortTime } from "../ui/values/Time.tsx"

type BusyMinute = Forecast["busiest"][number]

export const BusiestMinutes = ({ of }: { readonly of: ReadonlyArray<BusyMinute> }) =>
  of.length === 0 ? (
    <Card className="px-5 py-4 text-soft">No two runs start in the same minute.</Card>
  ) : (
    <Card>
      <ol className="divide-y divide-line">
        {of.map((minute) => (
          <li
            key={minute.at}
            className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-1 px-4 py-2.5 sm:grid-cols-[12rem_1fr_auto] sm:px-5"
          >
            <span className="flex flex-wrap items-baseline gap-x-3">
              <ShortTime at={minute.at} className="font-medium" />
              <RelativeTime at={minute.at} className="text-xs text-faint" />
            </span>
            <span className="min-w-0 text-sm break-words text-soft max-sm:order-last max-sm:col-span-2">
              <Names minute={minute} />
            </span>
            <span className="text-right nums">
              {formatCount(minute.runs)} <span className="text-faint">runs</span>
            </span>
          </li>
        ))}
      </ol>
    </Card>
  )

const Names = ({ minute: { runs, tasks } }: { readonly minute: BusyMinute }) => (
  <>
    {tasks.map(({ kind, name, task_id }, index) => (
      <span key={task_id}>
        {index > 0 && ", "}
        <TaskLink kind={kind} taskId={task_id} className="hover:text-ink hover:underline">
          {name ?? "a delayed task"}
        </TaskLink>
      </span>
    ))}
    {runs > tasks.length && ` and ${formatCount(runs - tasks.length)} more`}
  </>
)
