import { classes } from "../classes.ts"
import { useNow } from "./clock.ts"
import { dateTime, duration, relative, shortDateTime, shortExactDateTime } from "./format.ts"

interface Moment {
  /** Null shows a dash. */
  readonly at: string | null
  readonly className?: string
}

const timeOf = (at: string, text: string, className?: string) => (
  <time
    dateTime={at}
    title={`${dateTime(at)}\n${dateTime(at, "UTC")} UTC`}
    className={classes("nums", className)}
  >
    {text}
  </time>
)

/** A relative time: `in 4 min`. The tooltip has the full time in the user's time zone and in UTC. */
export const Ago = ({ at, className }: Moment) => {
  const now = useNow()
  if (at === null) return <EmptyValue />
  return timeOf(at, relative(Date.parse(at), now), classes("whitespace-nowrap", className))
}

const clockTime =
  (format: (at: string) => string, wrapping = "whitespace-nowrap") =>
  ({ at, className }: Moment) =>
    at === null ? <EmptyValue /> : timeOf(at, format(at), classes(wrapping, className))

export const At = clockTime(shortDateTime)

/** A time with seconds, for lists where several times fall within the same minute. */
export const ExactAt = clockTime(shortExactDateTime)

export const FullAt = clockTime(dateTime, "")

export const Duration = ({ ms }: { readonly ms: number | null }) =>
  ms === null ? <EmptyValue /> : <span className="nums whitespace-nowrap">{duration(ms)}</span>

export const EmptyValue = () => <span className="text-faint">–</span>
