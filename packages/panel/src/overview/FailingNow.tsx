import type { FailingTask } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { LinkToTask } from "../executions/LinkToTask.tsx"
import { Card, Section, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Dot } from "../ui/values/Status.tsx"
import { Ago } from "../ui/values/Time.tsx"
import { failingNowOptions } from "./failingNow.ts"

/** Tasks whose latest run failed: what somebody has to look at. */
export const FailingNow = ({
  hasRun
}: {
  /** True if anything ran in the last 24 hours. */
  readonly hasRun: boolean
}) => {
  const { workspaceId } = useWorkspace()
  const { data, error } = useQuery(failingNowOptions(workspaceId))
  return (
    <Section title="Failing now">
      {error !== null ? (
        <Problem error={error} />
      ) : data === undefined ? (
        <Skeleton className="h-14" />
      ) : data.length === 0 ? (
        <Card className="flex items-center gap-2.5 px-4 py-3.5 text-soft">
          <Dot tone={hasRun ? "ok" : "none"} />
          {hasRun
            ? "The latest run of each task succeeded."
            : "No task is failing. Nothing ran in the last 24 hours."}
        </Card>
      ) : (
        <Card>
          <ul className="divide-y divide-line">
            {data.map((failing) => (
              <li key={failing.task_id}>
                <FailingLink failing={failing} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </Section>
  )
}

const FailingLink = ({ failing }: { readonly failing: FailingTask }) => {
  const { workspaceId } = useWorkspace()
  const { execution, kind, name, task_id } = failing
  const text = (
    <>
      <Dot tone="bad" />
      <span className="min-w-0 grow">
        <span className="block truncate font-medium">{name}</span>
        <span className="block truncate text-xs text-faint">{reasonOf(execution)}</span>
      </span>
      {execution.finished_at !== null && (
        <Ago at={execution.finished_at} className="text-sm text-faint" />
      )}
    </>
  )
  return kind === "chain" ? (
    <LinkToTask kind={kind} taskId={task_id} runId={execution.chain_run_id} className={row}>
      {text}
    </LinkToTask>
  ) : (
    <Link
      to="/w/$workspaceId/executions/$executionId"
      params={{ workspaceId, executionId: execution.id }}
      className={row}
    >
      {text}
    </Link>
  )
}

const row = "flex items-baseline gap-3 px-4 py-2.5 transition-colors duration-75 hover:bg-sunken/60"

const reasonOf = ({ error, step }: FailingTask["execution"]): string =>
  [step, error?.message].filter((part) => part != null).join(" · ")
