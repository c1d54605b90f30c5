import type { ExecutionBucket, Forecast, WorkspaceId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { classes } from "../ui/classes.ts"
import { useNow } from "../ui/values/clock.ts"
import { dayOf, timeOfDay } from "../ui/values/format.ts"
import { LegendKey } from "../ui/values/LegendKey.tsx"
import { Card, Skeleton } from "../ui/layout/Page.tsx"
import { useWidth } from "../ui/layout/useWidth.ts"
import { type Coming, upcomingBars, type Done, pastBars, hoursPerBar } from "./bars.ts"

/** A bar chart of the last and the next 24 hours. Narrow charts have fewer bars. */
export const Timeline = ({
  coming,
  past,
  workspaceId
}: {
  readonly workspaceId: WorkspaceId
  readonly past: ReadonlyArray<ExecutionBucket> | undefined
  readonly coming: Forecast | undefined
}) => {
  const [width, ref] = useWidth()
  const now = useNow(60_000)
  if (past === undefined) return <Skeleton className="h-48" />
  const hours = hoursPerBar(width)
  const done = pastBars(past, hours, now)
  const ahead = coming === undefined ? [] : upcomingBars(coming, hours, now)
  const fullest = Math.max(0, ...[...done, ...ahead].map(({ runs }) => runs))
  const height = (runs: number) => `${runs === 0 ? 0 : Math.max(3, (runs / fullest) * 100)}%`
  return (
    <Card className="px-4 pt-4 pb-3 sm:px-5">
      <div className="mb-3 flex flex-wrap items-center gap-x-5 gap-y-1 text-xs text-faint">
        <LegendKey className="bg-ok" name="Succeeded" />
        <LegendKey className="bg-bad" name="Failed" />
        <LegendKey className="border border-edge bg-sunken" name="Upcoming" />
        {ahead.some(({ colliding }) => colliding > 0) && (
          <LegendKey className="bg-warn" name="Several in one minute" />
        )}
        {fullest > 0 && (
          <span className="ml-auto nums">
            at most {fullest} {hours === 1 ? "per hour" : `in ${hours} hours`}
          </span>
        )}
      </div>
      <div ref={ref} className="flex h-32 items-stretch gap-px sm:gap-[3px]">
        {done.map((bar) => (
          <Link
            key={bar.start}
            to="/w/$workspaceId/executions"
            params={{ workspaceId }}
            search={{
              from: new Date(bar.start).toISOString(),
              to: new Date(bar.end).toISOString()
            }}
            title={titleOf(bar)}
            aria-label={titleOf(bar)}
            className="group flex min-w-0 grow basis-0 flex-col justify-end rounded-sm hover:bg-sunken"
          >
            <span className="block rounded-t-[2px] bg-bad" style={{ height: height(bar.failed) }} />
            <span
              className={classes("block bg-ok", bar.failed === 0 && "rounded-t-[2px]")}
              style={{ height: height(bar.succeeded) }}
            />
          </Link>
        ))}
        <span aria-hidden className="relative mx-1 w-px shrink-0 bg-live">
          <span className="absolute -top-1 -left-[3px] size-[7px] rounded-full bg-live" />
        </span>
        {coming === undefined &&
          // Placeholders keep the past bars in place until the forecast arrives.
          Array.from({ length: 24 / hours }, (_, bar) => (
            <span key={bar} className="min-w-0 grow basis-0" />
          ))}
        {ahead.map((bar) => (
          <Link
            key={bar.start}
            to="/w/$workspaceId/forecast"
            params={{ workspaceId }}
            title={comingTitle(bar)}
            aria-label={comingTitle(bar)}
            className="flex min-w-0 grow basis-0 flex-col justify-end rounded-sm hover:bg-sunken"
          >
            <span
              className={classes(
                "block rounded-t-[2px] border border-b-0 border-edge bg-sunken",
                bar.runs === bar.colliding && "border-0"
              )}
              style={{ height: height(bar.runs - bar.colliding) }}
            />
            <span
              className={classes("block bg-warn", bar.runs === bar.colliding && "rounded-t-[2px]")}
              style={{ height: height(bar.colliding) }}
            />
          </Link>
        ))}
      </div>
      {/* Both sides are as wide as their bars above, so that "Now" is below its line. */}
      <div className="mt-2 flex border-t border-line pt-2 text-xs nums text-faint">
        <span className="basis-0 whitespace-nowrap" style={{ flexGrow: done.length }}>
          24 h ago
        </span>
        <span className="flex w-[9px] justify-center font-medium text-live">Now</span>
        <span
          className="basis-0 text-right whitespace-nowrap"
          style={{ flexGrow: coming === undefined ? 24 / hours : ahead.length }}
        >
          in 24 h
        </span>
      </div>
    </Card>
  )
}

const spanOf = ({ end, start }: Done | Coming) =>
  `${dayOf(start)}, ${timeOfDay(start)} to ${timeOfDay(end)}`

const titleOf = (bar: Done) => `${spanOf(bar)}: ${bar.succeeded} succeeded, ${bar.failed} failed`

const comingTitle = (bar: Coming) =>
  [
    `${spanOf(bar)}: ${bar.runs} upcoming${bar.colliding === 0 ? "" : `, ${bar.colliding} in the same minute as others`}`,
    ...bar.names.slice(0, 6),
    ...(bar.names.length > 6 ? [`and ${bar.names.length - 6} more`] : [])
  ].join("\n")
