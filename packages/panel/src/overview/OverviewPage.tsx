import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useMemo } from "react"
import { useWorkspace } from "../data/client.ts"
import { ExecutionList } from "../executions/ExecutionList.tsx"
import { executionQueries } from "../executions/queries.ts"
import { StatsFigures } from "../executions/StatsFigures.tsx"
import { forecastOptions, upcomingOptions } from "../forecast/queries.ts"
import { UpcomingList } from "../forecast/UpcomingList.tsx"
import { Empty, Page, Section } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Only } from "../ui/role.tsx"
import { FailingNow } from "./FailingNow.tsx"
import { FirstSteps, firstSteps } from "./FirstSteps.tsx"
import { OpenIncidents } from "./OpenIncidents.tsx"
import { lastDay, latestFailures } from "./prefetchOverview.ts"
import { Timeline } from "./Timeline.tsx"

const link = "text-sm font-medium text-live hover:underline"

export const OverviewPage = () => {
  const { workspaceId } = useWorkspace()
  const stats = useQuery(executionQueries.stats(workspaceId, lastDay))
  const forecast = useQuery(forecastOptions(workspaceId, 1))
  const upcoming = useQuery(upcomingOptions(workspaceId))
  const counts = stats.data?.totals.counts
  const hasRun = counts !== undefined && Object.values(counts).some((count) => count > 0)
  const isNew = counts !== undefined && upcoming.data?.length === 0 && !hasRun
  const hasBegun = useMemo(() => firstSteps.get(workspaceId) === "begun", [workspaceId])
  const params = { workspaceId }
  return (
    <Page title="Overview">
      <div className="flex flex-col gap-8">
        <Problem error={stats.error ?? forecast.error} retry={stats.refetch} />
        {(isNew || hasBegun) && (
          <Only role="admin">
            <FirstSteps key={workspaceId} />
          </Only>
        )}
        <Timeline workspaceId={workspaceId} past={stats.data?.buckets} coming={forecast.data} />
        <Section title="Last 24 hours">
          <StatsFigures query={lastDay} />
        </Section>
        <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <Section
            title="Latest failures"
            actions={
              <Link
                to="/w/$workspaceId/executions"
                params={params}
                search={latestFailures}
                className={link}
              >
                Show all failures
              </Link>
            }
          >
            <ExecutionList
              search={latestFailures}
              showsTask
              limit={8}
              empty={<Empty title="No failures" />}
            />
          </Section>
          <aside className="flex min-w-0 flex-col gap-8">
            <FailingNow hasRun={hasRun} />
            <OpenIncidents />
            <Section
              title="Next runs"
              actions={
                <Link to="/w/$workspaceId/forecast" params={params} className={link}>
                  Show the forecast
                </Link>
              }
            >
              <UpcomingList limit={8} />
            </Section>
          </aside>
        </div>
      </div>
    </Page>
  )
}
