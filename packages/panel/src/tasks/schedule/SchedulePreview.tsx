import {
  type CronPreviewQuery,
  type DstOverlap,
  type PreviewedFiring,
  ValidationError,
  type WorkspaceId
} from "@scheduling/sdk"
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query"
import { useDeferredValue } from "react"
import { clientOf, useWorkspace } from "../../data/client.ts"
import { retryOnce } from "../../data/queries.ts"
import { classes } from "../../ui/classes.ts"
import { FieldError } from "../../ui/forms/Field.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { formatDay } from "../../ui/values/format.ts"
import { Badge } from "../../ui/values/Status.tsx"
import { RelativeTime } from "../../ui/values/Time.tsx"
import type { previewQueryOf } from "./firingOptionValues.ts"
import { describeSchedule } from "./describeSchedule.ts"

const previewOptions = (workspaceId: WorkspaceId, query: CronPreviewQuery) =>
  queryOptions({
    queryKey: ["w", workspaceId, "cron", "preview", query],
    enabled: query.schedule !== "",
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    retry: retryOnce,
    queryFn: ({ signal }) => clientOf(workspaceId).cron.preview(query, { signal })
  })

interface Interval {
  readonly every: string
  readonly anchor: string | null
}

export const SchedulePreview = ({
  dstOverlap,
  isRejected,
  schedule,
  slots = { precision: "minute" },
  timezone
}: {
  /** A cron expression, or the task's interval. */
  readonly schedule: string | Interval
  readonly timezone: string
  readonly dstOverlap: DstOverlap
  /** True if a field already shows the error. */
  readonly isRejected: boolean
  readonly slots?: ReturnType<typeof previewQueryOf>
}) => {
  const { workspaceId } = useWorkspace()
  const asked = useDeferredValue(typeof schedule === "string" ? schedule.trim() : schedule.every)
  const anchor = typeof schedule === "string" ? null : schedule.anchor
  const isInterval = typeof schedule !== "string"
  const { data, error, isFetching } = useQuery(
    previewOptions(workspaceId, {
      ...(isInterval ? { every: asked, ...(anchor !== null && { anchor }) } : { schedule: asked }),
      timezone: timezone.trim() || "UTC",
      dst_overlap: dstOverlap,
      ...slots,
      count: 6
    })
  )
  if (asked === "") return null
  if (error instanceof ValidationError) {
    return isRejected ? null : (
      <FieldError error={error.detail.issues.map(({ message }) => message).join(" ")} />
    )
  }
  if (error !== null) return <Problem error={error} />
  return (
    <div
      aria-live="polite"
      aria-busy={isFetching}
      className="rounded-lg border border-line bg-sunken/50 px-3.5 py-3"
    >
      <p className="font-medium">
        {isInterval ? `Every ${asked}` : describeSchedule(asked, timezone.trim() || "UTC")}
      </p>
      <ol className="mt-2 flex flex-col gap-1">
        {data?.data.map((fire) => (
          <Fire key={fire.at + fire.clock_change} fire={fire} />
        ))}
      </ol>
    </div>
  )
}

const changes = {
  moved: ["moved", "Clocks skip this local time. The run starts right after it."],
  doubled: ["twice", "Clocks go back and this local time occurs twice. The task runs both times."],
  dropped: [
    "skipped",
    "Clocks go back and this local time occurs twice. The task runs the first time only."
  ]
} as const

/**
 * Formats `2026-03-29T03:30:00+02:00` as `Sun 29 Mar, 03:30 +02:00`, with the year unless it is the
 * current one.
 */
const formatLocal = (local: string): string => {
  const [, day = "", time = "", offset = ""] =
    /^([\d-]+)T(\d\d:\d\d(?::(?!00)\d\d)?)[^+\-Z]*(.*)$/.exec(local) ?? []
  const date = formatDay(`${day}T00:00:00Z`, "UTC")
  return `${date}, ${time} ${offset === "Z" ? "UTC" : offset}`
}

const Fire = ({ fire }: { readonly fire: PreviewedFiring }) => {
  const { at, clock_change, excluded, local } = fire
  const change = excluded
    ? (["no run", "This day is excluded."] as const)
    : clock_change === null
      ? undefined
      : changes[clock_change]
  return (
    <li className="flex flex-wrap items-center gap-x-3 text-sm">
      <span
        className={classes(
          "nums min-w-52",
          (excluded || clock_change === "dropped") && "line-through"
        )}
      >
        {formatLocal(local)}
      </span>
      {change === undefined ? (
        <RelativeTime at={at} className="text-faint" />
      ) : (
        <>
          <Badge tone="warn">{change[0]}</Badge>
          <span className="text-faint">{change[1]}</span>
        </>
      )}
    </li>
  )
}
