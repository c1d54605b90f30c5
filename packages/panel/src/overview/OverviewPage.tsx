import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useMemo } from "react"
import { useWorkspace } from "../data/client.ts"
import { StatsFigures } from "../executions/StatsFigures.tsx"
import { ExecutionList } from "../executions/ExecutionList.tsx"
import { statsOptions } from "../executions/queries.ts"
import { forecastOptions, upcomingOptions } from "../forecast/queries.ts"
import { UpcomingList } from "../forecast/UpcomingList.tsx"
import { Empty, Page, Section, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { lastDay, latestFailures } from "./askForOverview.ts"
import { FailingNow } from "./FailingNow.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { areBegun } from "./firstStepsState.ts"
import { Incidents } from "./Incidents.tsx"
import { Timeline } from "./Timeline.tsx"
import { Only } from "../ui/role.tsx"

export const OverviewPage = () => {
  const { workspaceId } = useWorkspace()
  const stats = useQuery(statsOptions(workspaceId, lastDay))
  const forecast = useQuery(forecastOptions(workspaceId, 1))
  const upcoming = useQuery(upcomingOptions(workspaceId))
  const counts = stats.data?.totals.counts
  const hasRun = counts !== undefined && Object.values(counts).some((count) => count > 0)
  const isNew = counts !== undefined && upcoming.data?.length === 0 && !hasRun
  const wereBegun = useMemo(() => areBegun(workspaceId), [workspaceId])
  return (
    <Page title="Overview">
      <div className="flex flex-col gap-8">
        <Problem error={stats.error ?? forecast.error ?? upcoming.error} retry={stats.refetch} />
        {(isNew || wereBegun) && (
          <Only role="admin">
            <FirstSteps key={workspaceId} />
          </Only>
        )}
        <Timeline workspaceId={workspaceId} past={stats.data?.buckets} coming={forecast.data} />
        <Section title="Last 24 hours">
          <StatsFigures query={lastDay} />
        </Section>
        <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <Section title="Latest failures" actions={<FailuresLink />}>
            <ExecutionList
              search={latestFailures}
              showsTask
              limit={8}
              empty={<Empty title="Nothing has failed" />}
            />
          </Section>
          <aside className="flex min-w-0 flex-col gap-8">
            <FailingNow hasRun={hasRun} />
            <Incidents />
            <Section title="Coming up" actions={<ForecastLink />}>
              {upcoming.data === undefined ? (
                <Skeleton className="h-40" />
              ) : (
                <UpcomingList runs={upcoming.data.slice(0, 8)} />
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

const ForecastLink = () => {
  const { workspaceId } = useWorkspace()
  return (
    <Link
      to="/w/$workspaceId/forecast"
      params={{ workspaceId }}
      className="text-sm font-medium text-live hover:underline"
    >
      All upcoming runs
    </Link>
  )
}
