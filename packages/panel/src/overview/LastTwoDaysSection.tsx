import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { ExecutionBars } from "../executions/ExecutionBars.tsx"
import { barsOf, barsOfTimeline, type Period } from "../executions/histogram.ts"
import { executionQueries } from "../executions/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Section, Skeleton } from "../ui/layout/Page.tsx"
import { useWidth } from "../ui/layout/useWidth.ts"
import { Problem } from "../ui/messages/Problem.tsx"
import { useNow } from "../ui/values/clock.ts"
import { formatShortDateTime } from "../ui/values/format.ts"
import { lastTwoDaysOptions, quarterHourMs } from "./prefetchOverview.ts"

const hourMs = 3_600_000

/** The minimum width of a bar, including the space around it. */
const minBarPx = 5

/** The bars for the last 48 hours. Each covers 15 minutes, or more on a narrow screen. */
export const LastTwoDaysSection = ({
  onPeriod,
  period
}: {
  readonly period: Period
  readonly onPeriod: (period: Period) => void
}) => {
  const { workspaceId } = useWorkspace()
  const [width, ref] = useWidth()
  const now = useNow(60_000)
  const timeline = useQuery({
    ...lastTwoDaysOptions(workspaceId, now),
    placeholderData: keepPreviousData
  })
  // The service reads only the newest executions individually. If there are more, it provides
  // hourly statistics.
  const isTooMuch = timeline.data !== undefined && timeline.data.complete_from > timeline.data.from
  const from = new Date(Math.floor(now / hourMs - 47) * hourMs).toISOString()
  const hours = useQuery({
    ...executionQueries.stats(workspaceId, { bucket: "hour", from }),
    enabled: isTooMuch
  })
  const { error, refetch } = isTooMuch ? hours : timeline
  const perBar = [1, 2, 4].find((buckets) => width >= (192 / buckets) * minBarPx) ?? 8
  const bars = isTooMuch
    ? hours.data && barsOf(hours.data.buckets, "hour")
    : timeline.data && barsOfTimeline(timeline.data, perBar)
  const isChosen = period.from !== undefined
  return (
    <Section
      title="Last 48 hours"
      actions={
        isChosen && (
          <span className="flex flex-wrap items-center justify-end gap-x-4 text-sm">
            <span className="nums">
              {formatShortDateTime(period.from)} to{" "}
              {period.to === undefined ? "now" : formatShortDateTime(period.to)}
            </span>
            <Link
              to="/w/$workspaceId/executions"
              params={{ workspaceId }}
              search={{ from: period.from, ...(period.to !== undefined && { to: period.to }) }}
              className="font-medium text-live hover:underline"
            >
              Show executions
            </Link>
            <Button onClick={() => onPeriod({})}>Clear period</Button>
          </span>
        )
      }
    >
      <div ref={ref}>
        {bars === undefined ? (
          error === null ? (
            <Skeleton className="h-36" />
          ) : (
            <Problem error={error} retry={refetch} />
          )
        ) : (
          <ExecutionBars
            bars={bars}
            period={period}
            onPeriod={onPeriod}
            note={`All tasks, per ${isTooMuch || perBar === 4 ? "hour" : perBar === 8 ? "2 hours" : `${(quarterHourMs / 60_000) * perBar} minutes`}`}
          />
        )}
      </div>
    </Section>
  )
}
