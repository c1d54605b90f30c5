import { useNow } from "./clock.ts"
import { classes } from "../classes.ts"
import { dateTime, duration, relative, shortDateTime, shortExactDateTime } from "./format.ts"

const title = (at: string) => `${dateTime(at)}\n${dateTime(at, "UTC")} UTC`

/** A moment, as `in 4 min`; in the reader's zone and in UTC on hover. */
export const Ago = ({ at, className }: { readonly at: string; readonly className?: string }) => {
  const moment = Date.parse(at)
  const now = useNow()
  return (
    <time dateTime={at} title={title(at)} className={classes("nums whitespace-nowrap", className)}>
      {relative(moment, now)}
    </time>
  )
}

/** A moment on the reader's clock; in UTC on hover. */
export const At = ({ at, className }: { readonly at: string; readonly className?: string }) => (
  <time dateTime={at} title={title(at)} className={classes("nums whitespace-nowrap", className)}>
    {shortDateTime(at)}
  </time>
)

/** A moment to the second, where minutes would show two moments as one. */
export const ExactAt = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={title(at)} className="nums whitespace-nowrap">
    {shortExactDateTime(at)}
  </time>
)

/** A moment that may be years away. */
export const FullAt = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={title(at)} className="nums">
    {dateTime(at)}
  </time>
)

export const Duration = ({ ms }: { readonly ms: number | null }) =>
  ms === null ? <None /> : <span className="nums whitespace-nowrap">{duration(ms)}</span>

/** Where there is nothing to show. */
export const None = () => <span className="text-faint">–</span>
