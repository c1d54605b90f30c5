import type { ExecutionBucket, WorkspaceId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { classes } from "../ui/classes.ts"
import { dayOf, timeOfDay } from "../ui/values/format.ts"
import { Card, Skeleton } from "../ui/layout/Page.tsx"
import type { Hour } from "./hours.ts"

/** The last and the next 24 hours on one line, an hour a bar. */
export const Timeline = ({
  coming,
  past,
  workspaceId
}: {
  readonly workspaceId: WorkspaceId
  readonly past: ReadonlyArray<ExecutionBucket> | undefined
  readonly coming: ReadonlyArray<Hour> | undefined
}) => {
  if (past === undefined) return <Skeleton className="h-48" />
  const done = past.slice(-25).map((bucket) => ({ ...bucket, ended: endedOf(bucket) }))
  const ahead = coming ?? []
  const most = Math.max(1, ...done.map(({ ended }) => ended), ...ahead.map(({ runs }) => runs))
  const height = (runs: number) => `${runs === 0 ? 0 : Math.max(3, (runs / most) * 100)}%`
  return (
    <Card className="px-4 pt-4 pb-3 sm:px-5">
      <div className="mb-3 flex flex-wrap items-center gap-x-5 gap-y-1 text-xs text-faint">
        <Key className="bg-ok" name="Succeeded" />
        <Key className="bg-bad" name="Failed" />
        <Key className="border border-edge bg-sunken" name="To come" />
        {ahead.some(({ colliding }) => colliding > 0) && (
          <Key className="bg-warn" name="Begin together" />
        )}
        {done.some(({ ended }) => ended > 0) || ahead.some(({ runs }) => runs > 0) ? (
          <span className="ml-auto nums">at most {most} per hour</span>
        ) : null}
      </div>
      <div className="flex h-32 items-stretch gap-px sm:gap-[3px]">
        {done.map(({ counts, ended, start }) => (
          <Link
            key={start}
            to="/w/$workspaceId/executions"
            params={{ workspaceId }}
            search={{ from: start, to: new Date(Date.parse(start) + 3_600_000).toISOString() }}
            title={titleOf(start, counts)}
            aria-label={titleOf(start, counts)}
            className="group flex min-w-0 grow basis-0 flex-col justify-end rounded-sm hover:bg-sunken"
          >
            <span
              className="block rounded-t-[2px] bg-bad"
              style={{ height: height(counts.failed) }}
            />
            <span
              className={classes("block bg-ok", counts.failed === 0 && "rounded-t-[2px]")}
              style={{ height: height(ended - counts.failed) }}
            />
          </Link>
        ))}
        <span aria-hidden className="relative mx-1 w-px shrink-0 bg-live">
          <span className="absolute -top-1 -left-[3px] size-[7px] rounded-full bg-live" />
        </span>
        {coming === undefined &&
          // The room of what is to come, so that the past stays where it is.
          Array.from({ length: 24 }, (_, hour) => (
            <span key={hour} className="min-w-0 grow basis-0" />
          ))}
        {ahead.map(({ colliding, names, runs, start }) => (
          <Link
            key={start}
            to="/w/$workspaceId/forecast"
            params={{ workspaceId }}
            title={comingTitle(start, runs, colliding, names)}
            aria-label={comingTitle(start, runs, colliding, names)}
            className="flex min-w-0 grow basis-0 flex-col justify-end rounded-sm hover:bg-sunken"
          >
            <span
              className={classes(
                "block rounded-t-[2px] border border-b-0 border-edge bg-sunken",
                runs === colliding && "border-0"
              )}
              style={{ height: height(runs - colliding) }}
            />
            <span
              className={classes("block bg-warn", runs === colliding && "rounded-t-[2px]")}
              style={{ height: height(colliding) }}
            />
          </Link>
        ))}
      </div>
      <div className="mt-2 flex justify-between border-t border-line pt-2 text-xs nums text-faint">
        <span>24 h ago</span>
        <span className="font-medium text-live">Now</span>
        <span>in 24 h</span>
      </div>
    </Card>
  )
}

const Key = ({ className, name }: { readonly className: string; readonly name: string }) => (
  <span className="flex items-center gap-1.5">
    <span aria-hidden className={classes("size-2.5 rounded-[3px]", className)} />
    {name}
  </span>
)

const endedOf = ({ counts }: ExecutionBucket) => counts.succeeded + counts.failed

const hourOf = (start: number | string) => `${dayOf(start)}, from ${timeOfDay(start)}`

const titleOf = (start: string, { failed, succeeded }: ExecutionBucket["counts"]) =>
  `${hourOf(start)}: ${succeeded} succeeded, ${failed} failed`

const comingTitle = (
  start: number,
  runs: number,
  colliding: number,
  names: ReadonlyArray<string>
) =>
  [
    `${hourOf(start)}: ${runs} to come${colliding === 0 ? "" : `, ${colliding} of them together`}`,
    ...names.slice(0, 6),
    ...(names.length > 6 ? [`and ${names.length - 6} more`] : [])
  ].join("\n")
