import type { FailingTask } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { taskLink } from "../data/tasks.ts"
import { Section } from "../ui/layout/Page.tsx"
import { CardList, cardRowClass } from "../ui/lists/CardList.tsx"
import { Dot } from "../ui/values/Status.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"
import { failingOptions } from "./prefetchOverview.ts"

export const FailingTasks = ({
  hasRun
}: {
  /** True if anything ran in the last 24 hours. */
  readonly hasRun: boolean
}) => {
  const { workspaceId } = useWorkspace()
  return (
    <Section title="Failing tasks">
      <CardList
        query={useQuery(failingOptions(workspaceId))}
        keyOf={({ task_id }) => task_id}
        empty={
          <>
            <Dot tone={hasRun ? "ok" : "none"} />
            {hasRun
              ? "The latest run of each task succeeded."
              : "No task is failing. Nothing ran in the last 24 hours."}
          </>
        }
      >
        {({ execution, kind, name, task_id }) => (
          <Link
            {...(kind === "chain"
              ? taskLink(workspaceId, kind, task_id, execution.chain_run_id)
              : {
                  to: "/w/$workspaceId/executions/$executionId",
                  params: { workspaceId, executionId: execution.id }
                })}
            className={cardRowClass}
          >
            <Dot tone="bad" />
            <span className="min-w-0 grow">
              <span className="block truncate font-medium">{name}</span>
              <span className="block truncate text-xs text-faint">{reasonOf(execution)}</span>
            </span>
            {execution.finished_at !== null && (
              <RelativeTime at={execution.finished_at} className="text-sm text-faint" />
            )}
          </Link>
        )}
      </CardList>
    </Section>
  )
}

const reasonOf = ({ error, step }: FailingTask["execution"]): string =>
  [step, error?.message].filter((part) => part != null).join(" · ")
