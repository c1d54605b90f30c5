import { classes } from "../classes.ts"
import { useNow } from "./clock.ts"
import {
  formatDateTime,
  formatDuration,
  formatRelativeTime,
  formatShortDateTime,
  formatShortExactDateTime,
  formatShortPreciseDateTime,
  isUserTimeZone,
  roundedDuration,
  userTimeZone
} from "./format.ts"

interface Moment {
  /** Null is shown as a dash. */
  readonly at: string | null
  readonly className?: string
}

const timeOf = (at: string, text: string, className?: string) => (
  <time
    dateTime={at}
    title={`${formatDateTime(at)}\n${formatDateTime(at, "UTC")} UTC`}
    className={classes("nums", className)}
  >
    {text}
  </time>
)

/**
 * A relative time: `in 4 min`. The tooltip shows the full time in the user's time zone and in UTC.
 */
export const RelativeTime = ({ at, className }: Moment) => {
  const now = useNow()
  if (at === null) return <EmptyValue />
  return timeOf(
    at,
    formatRelativeTime(Date.parse(at), now),
    classes("whitespace-nowrap", className)
  )
}

/** The time since `at`: `for 18 min`. */
export const ElapsedTime = ({
  at,
  className
}: {
  readonly at: string
  readonly className?: string
}) => {
  const elapsedMs = Math.max(0, useNow() - Date.parse(at))
  return timeOf(at, `for ${roundedDuration(elapsedMs)}`, classes("whitespace-nowrap", className))
}

const clockTime =
  (format: (at: string) => string, wrapping = "whitespace-nowrap") =>
  ({ at, className }: Moment) =>
    at === null ? <EmptyValue /> : timeOf(at, format(at), classes(wrapping, className))

export const ShortTime = clockTime(formatShortDateTime)

/** A time with seconds, for lists in which several times are in the same minute. */
export const ExactTime = clockTime(formatShortExactDateTime)

/** A time with milliseconds, for times in the same second that are compared. */
export const PreciseTime = clockTime(formatShortPreciseDateTime)

export const FullTime = clockTime(formatDateTime, "")

/**
 * Says that the times beside a schedule are in the user's time zone. Shows nothing if the schedule
 * is in the same zone.
 */
export const UserZoneHint = ({ scheduleZone }: { readonly scheduleZone: string }) =>
  !isUserTimeZone(scheduleZone) && (
    <span className="text-sm text-faint">Times in {userTimeZone()}</span>
  )

export const Duration = ({ ms }: { readonly ms: number | null }) =>
  ms === null ? (
    <EmptyValue />
  ) : (
    <span className="nums whitespace-nowrap">{formatDuration(ms)}</span>
  )

export const EmptyValue = () => <span className="text-faint">–</span>
