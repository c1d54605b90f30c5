import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { StatsFigures } from "../executions/StatsFigures.tsx"
import { ExecutionList } from "../executions/ExecutionList.tsx"
import { statsOptions } from "../executions/queries.ts"
import { Card, Empty, Page, Section, Skeleton } from "../ui/Page.tsx"
import { Problem } from "../ui/Problem.tsx"
import { Ago } from "../ui/Time.tsx"
import { FailingNow } from "./FailingNow.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { Incidents } from "./Incidents.tsx"
import { type Coming, comingUpOptions } from "./queries.ts"
import { Timeline } from "./Timeline.tsx"
import { Only } from "../ui/role.tsx"

const lastDay = { bucket: "hour" } as const

export const OverviewPage = () => {
  const { workspaceId } = useWorkspace()
  const stats = useQuery(statsOptions(workspaceId, lastDay))
  const coming = useQuery(comingUpOptions(workspaceId))
  const counts = stats.data?.totals.counts
  const hasRun = counts !== undefined && Object.values(counts).some((count) => count > 0)
  const isNew = counts !== undefined && coming.data?.next.length === 0 && !hasRun
  return (
    <Page title="Overview">
      <div className="flex flex-col gap-8">
        <Problem error={stats.error ?? coming.error} retry={stats.refetch} />
        {isNew && (
          <Only role="admin">
            <FirstSteps />
          </Only>
        )}
        <Timeline
          workspaceId={workspaceId}
          past={stats.data?.buckets}
          coming={coming.data?.hours}
        />
        <Section title="Last 24 hours">
          <StatsFigures query={lastDay} />
        </Section>
        <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <Section title="Latest failures" actions={<FailuresLink />}>
            <ExecutionList
              search={{ status: "failed" }}
              showsTask
              limit={8}
              empty={<Empty title="Nothing has failed" />}
            />
          </Section>
          <aside className="flex min-w-0 flex-col gap-8">
            <FailingNow />
            <Incidents />
            <Section title="Coming up">
              {coming.data === undefined ? (
                <Skeleton className="h-40" />
              ) : (
                <ComingList coming={coming.data.next.slice(0, 8)} />
              )}
            </Section>
          </aside>
        </div>
      </div>
    </Page>
  )
}

const FailuresLink = () => {
  const { workspaceId } = useWorkspace()
  return (
    <Link
      to="/w/$workspaceId/executions"
      params={{ workspaceId }}
      search={{ status: "failed" }}
      className="text-sm font-medium text-live hover:underline"
    >
      All failures
    </Link>
  )
}

const ComingList = ({ coming }: { readonly coming: ReadonlyArray<Coming> }) => {
  const { workspaceId } = useWorkspace()
  if (coming.length === 0) {
    return <Card className="px-5 py-4 text-soft">Nothing runs in the next 24 hours.</Card>
  }
  return (
    <Card>
      <ul className="divide-y divide-line">
        {coming.map(({ at, key, kind, name, taskId }) => (
          <li key={key}>
            <Link
              to={
                kind === "cron" ? "/w/$workspaceId/cron/$taskId" : "/w/$workspaceId/delayed/$taskId"
              }
              params={{ workspaceId, taskId }}
              className="flex items-baseline gap-4 px-4 py-2.5 transition-colors duration-75 hover:bg-sunken/60"
            >
              <span className="grow truncate">{name}</span>
              <Ago at={at} className="text-sm text-faint" />
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}
