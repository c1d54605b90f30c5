import type { FactsByName } from "../../ui/layout/Page.tsx"
import { formatDuration } from "../../ui/values/format.ts"
import { ShortTime } from "../../ui/values/Time.tsx"
import type { FiringOptions } from "./firingOptionValues.ts"
import { pauseLabels } from "./firingLabels.ts"

export const firingOptionFacts = ({
  pause_after_failures,
  ends_at,
  excluded_calendar,
  excluded_days,
  jitter_seconds,
  on_pause,
  precision,
  starts_at
}: FiringOptions): FactsByName => ({
  Precision: precision === "second" ? "Seconds" : undefined,
  "Starts at": starts_at && <ShortTime at={starts_at} />,
  "Ends at": ends_at && <ShortTime at={ends_at} />,
  "Excluded days": excluded_days.join(", "),
  "Calendar of excluded days": excluded_calendar && calendarInWords(excluded_calendar),
  Jitter: jitter_seconds > 0 && `up to ${formatDuration(jitter_seconds * 1_000)}`,
  "When paused": on_pause === "finish" ? pauseLabels.finish : undefined,
  Pauses: pause_after_failures && `after ${pause_after_failures} consecutive failures`
})

const calendarInWords = ({
  days,
  error,
  url
}: NonNullable<FiringOptions["excluded_calendar"]>): string =>
  `${url}, ${days} days` + (error === null ? "" : ` from the last good copy: ${error}`)
