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

/** A moment as a distance: `in 4 min`. The full time appears on hover, in the reader's zone and in UTC. */
export const Ago = ({ at, className }: Moment) => {
  const now = useNow()
  if (at === null) return <None />
  return timeOf(at, relative(Date.parse(at), now), classes("whitespace-nowrap", className))
}

const clockTime =
  (format: (at: string) => string, wrapping = "whitespace-nowrap") =>
  ({ at, className }: Moment) =>
    at === null ? <None /> : timeOf(at, format(at), classes(wrapping, className))

export const At = clockTime(shortDateTime)

/** A moment to the second, where minutes would show two moments as one. */
export const ExactAt = clockTime(shortExactDateTime)

export const FullAt = clockTime(dateTime, "")

export const Duration = ({ ms }: { readonly ms: number | null }) =>
  ms === null ? <None /> : <span className="nums whitespace-nowrap">{duration(ms)}</span>

export const None = () => <span className="text-faint">–</span>
