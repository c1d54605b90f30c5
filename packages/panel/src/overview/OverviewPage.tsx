import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useMemo, useState } from "react"
import { latestDefinitionChangesOptions } from "../data/changes.ts"
import { useWorkspace } from "../data/client.ts"
import type { Period } from "../executions/histogram.ts"
import { openIncidentsOptions } from "../data/incidents.ts"
import { membersOptions } from "../data/names.ts"
import { useMyRole } from "../data/role.ts"
import { executionQueries } from "../executions/queries.ts"
import { upcomingOptions } from "../forecast/queries.ts"
import { UpcomingList } from "../forecast/UpcomingList.tsx"
import { FoldedSection } from "../ui/layout/FoldedSection.tsx"
import { classes } from "../ui/classes.ts"
import { useNow } from "../ui/values/clock.ts"
import { Page, Section, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { RoleGate } from "../ui/role.tsx"
import { CurrentProblems } from "./CurrentProblems.tsx"
import { FirstSteps, firstStepsProgress } from "./FirstSteps.tsx"
import { LatestChanges } from "./LatestChanges.tsx"
import { LatestFailures, useLatestFailures } from "./LatestFailures.tsx"
import { LastTwoDaysSection } from "./LastTwoDaysSection.tsx"
import {
  failingTasksOptions,
  lastDayQuery,
  lastTwoDaysOptions,
  latestFailuresSearch
} from "./prefetchOverview.ts"
import { problemsOf } from "./problems.ts"
import { ranOnlyInLastHour } from "./ranOnlyInLastHour.ts"
import { TrendSection } from "./TrendSection.tsx"
import { WorkspaceState } from "./WorkspaceState.tsx"

const link = "text-sm font-medium text-live hover:underline"

export const OverviewPage = () => {
  const { workspaceId } = useWorkspace()
  const stats = useQuery(executionQueries.stats(workspaceId, lastDayQuery))
  const [period, setPeriod] = useState<Period>({})
  const upcoming = useQuery(upcomingOptions(workspaceId))
  const failing = useQuery(failingTasksOptions(workspaceId))
  const incidents = useQuery(openIncidentsOptions(workspaceId))
  const members = useQuery(membersOptions(workspaceId))
  const role = useMyRole(workspaceId)
  const isAdmin = role === "admin" || role === "owner"
  const changes = useQuery({ ...latestDefinitionChangesOptions(workspaceId), enabled: isAdmin })
  const now = useNow(60_000)
  const timeline = useQuery({
    ...lastTwoDaysOptions(workspaceId, now),
    placeholderData: keepPreviousData
  })
  const isPeriodChosen = period.from !== undefined
  const failures = {
    ...latestFailuresSearch,
    ...(period.from !== undefined && { from: period.from }),
    ...(period.to !== undefined && { to: period.to })
  }
  const problems = useMemo(
    () => problemsOf(failing.data ?? [], incidents.data?.data ?? []),
    [failing.data, incidents.data]
  )
  // The current problems are listed above, unless the user wants to see the failures of a period.
  const listedTasks = new Set<string>(isPeriodChosen ? [] : problems.map(({ id }) => id))
  const latestFailures = useLatestFailures(failures, listedTasks)
  const showsFailures =
    isPeriodChosen || latestFailures.rows.length > 0 || latestFailures.error !== null
  // The sections wait for these queries, because the result of one would push the others down.
  const isReady =
    [stats, upcoming, failing, incidents, members, timeline].every(({ isPending }) => !isPending) &&
    (isPeriodChosen || !latestFailures.isLoading) &&
    !changes.isLoading
  const counts = stats.data?.totals.counts
  const hasRun = counts !== undefined && Object.values(counts).some((count) => count > 0)
  const isNew = isReady && counts !== undefined && upcoming.data?.length === 0 && !hasRun
  const hasBegun = useMemo(() => firstStepsProgress.get(workspaceId) === "begun", [workspaceId])
  const params = { workspaceId }
  const charts = (
    <>
      {(hasRun || isPeriodChosen) && <LastTwoDaysSection period={period} onPeriod={setPeriod} />}
      <TrendSection />
    </>
  )
  return (
    <Page title="Overview" description={<WorkspaceState hasRun={hasRun} />}>
      <div aria-busy={!isReady} className="flex flex-col gap-8">
        <Problem error={stats.error} retry={stats.refetch} />
        {(isNew || hasBegun) && (
          <RoleGate role="admin">
            <FirstSteps />
          </RoleGate>
        )}
        {isReady ? (
          <>
            <CurrentProblems hasRun={hasRun} problems={problems} />
            <div
              className={classes(
                "grid items-start gap-8",
                isAdmin && "lg:grid-cols-[minmax(0,1fr)_22rem]"
              )}
            >
              {isAdmin && <LatestChanges />}
              <Section
                title="Next runs"
                actions={
                  <Link to="/w/$workspaceId/forecast" params={params} className={link}>
                    Show the forecast
                  </Link>
                }
              >
                <UpcomingList limit={6} />
              </Section>
            </div>
            {timeline.data !== undefined && ranOnlyInLastHour(timeline.data, now)
              ? hasRun && (
                  <FoldedSection title="Charts" note="Everything ran in the last hour.">
                    {charts}
                  </FoldedSection>
                )
              : charts}
            {showsFailures && (
              <Section
                title={isPeriodChosen ? "Failures in this period" : "Latest failures"}
                actions={
                  <Link
                    to="/w/$workspaceId/executions"
                    params={params}
                    search={failures}
                    className={link}
                  >
                    Show all failures
                  </Link>
                }
              >
                <LatestFailures list={latestFailures} />
              </Section>
            )}
          </>
        ) : (
          <Skeleton className="h-40" />
        )}
      </div>
    </Page>
  )
}
