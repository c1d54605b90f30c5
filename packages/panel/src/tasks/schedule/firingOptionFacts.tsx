import type { ReactNode } from "react"
import { duration } from "../../ui/values/format.ts"
import { At } from "../../ui/values/Time.tsx"
import type { FiringOptions } from "./firingOptionValues.ts"
import { pauses } from "./firingWords.ts"

/** Those options of a schedule that are set. */
export const firingOptionFacts = (
  options: FiringOptions
): ReadonlyArray<readonly [name: string, value: ReactNode]> => {
  const {
    disable_after_failures,
    ends_at,
    excluded_calendar,
    excluded_days,
    jitter_seconds,
    on_pause,
    precision,
    starts_at
  } = options
  const facts: ReadonlyArray<readonly [string, ReactNode]> = [
    ["Precision", precision === "second" ? "Seconds" : undefined],
    ["Starts", starts_at && <At key="starts" at={starts_at} />],
    ["Ends", ends_at && <At key="ends" at={ends_at} />],
    ["Days without runs", excluded_days?.join(", ")],
    ["Calendar", excluded_calendar && calendarInWords(excluded_calendar)],
    ["Jitter", jitter_seconds && `up to ${duration(jitter_seconds * 1_000)}`],
    ["When paused", on_pause === "finish" ? pauses.finish : undefined],
    ["Pauses itself", disable_after_failures && `after ${disable_after_failures} failures in a row`]
  ]
  return facts.filter(([, value]) => value !== undefined)
}

const calendarInWords = ({
  days,
  error,
  url
}: NonNullable<FiringOptions["excluded_calendar"]>): string =>
  `${url}: ${days} days` + (error === null ? "" : `, of an older copy, because ${error}`)
