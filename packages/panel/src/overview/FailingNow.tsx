import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { Card, Section, Skeleton } from "../ui/Page.tsx"
import { Problem } from "../ui/Problem.tsx"
import { Dot } from "../ui/Status.tsx"
import { Ago } from "../ui/Time.tsx"
import { type Failing, failingNowOptions } from "./failingNow.ts"

/** Tasks whose latest run failed: what somebody has to look at. */
export const FailingNow = () => {
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
          <Dot tone="ok" />
          The latest run of each task went well.
        </Card>
      ) : (
        <Card>
          <ul className="divide-y divide-line">
            {data.map((failing) => (
              <li key={failing.id}>
                <FailingLink failing={failing} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </Section>
  )
}

const row = "flex items-baseline gap-3 px-4 py-2.5 transition-colors duration-75 hover:bg-sunken/60"

const FailingLink = ({ failing: { at, id, kind, name, runId } }: { readonly failing: Failing }) => {
  const { workspaceId } = useWorkspace()
  const text = (
    <>
      <Dot tone="bad" />
      <span className="min-w-0 grow truncate font-medium">{name}</span>
      {at !== null && <Ago at={at} className="text-sm text-faint" />}
    </>
  )
  return kind === "cron" ? (
    <Link
      to="/w/$workspaceId/executions/$executionId"
      params={{ workspaceId, executionId: runId }}
      className={row}
    >
      {text}
    </Link>
  ) : (
    <Link
      to="/w/$workspaceId/chains/$chainId"
      params={{ workspaceId, chainId: id }}
      search={{ run: runId }}
      className={row}
    >
      {text}
    </Link>
  )
}
