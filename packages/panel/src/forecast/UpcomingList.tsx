import type { UpcomingRun } from "@scheduling/sdk"
import { LinkToTask } from "../executions/LinkToTask.tsx"
import { Card } from "../ui/layout/Page.tsx"
import { Ago } from "../ui/values/Time.tsx"
import { nameOf } from "./queries.ts"

/** The next run of each task, soonest first. */
export const UpcomingList = ({ runs }: { readonly runs: ReadonlyArray<UpcomingRun> }) =>
  runs.length === 0 ? (
    <Card className="px-5 py-4 text-soft">No task has a next run.</Card>
  ) : (
    <Card>
      <ul className="divide-y divide-line">
        {runs.map((run) => (
          <li key={run.task_id}>
            <LinkToTask
              kind={run.kind}
              taskId={run.task_id}
              className="flex items-baseline gap-4 px-4 py-2.5 transition-colors duration-75 hover:bg-sunken/60"
            >
              <span className="grow truncate">{nameOf(run)}</span>
              <Ago at={run.at} className="text-sm text-faint" />
            </LinkToTask>
          </li>
        ))}
      </ul>
    </Card>
  )
