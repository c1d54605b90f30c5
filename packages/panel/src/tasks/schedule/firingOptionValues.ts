import type { CronTask, OnPause, Precision } from "@scheduling/sdk"

/** A schedule's advanced options as form values. An empty string means not set. */
export interface FiringOptionValues {
  readonly precision: Precision
  readonly jitter_seconds: string
  readonly starts_at: string
  readonly ends_at: string
  readonly excluded_days: string
  readonly excluded_calendar: string
  readonly on_pause: OnPause
  readonly pause_after_failures: string
}

export type FiringOptions = Pick<CronTask, keyof FiringOptionValues>

/** Formats a time for `<input type="datetime-local">`, which uses the user's time zone. */
export const dateTimeInputOf = (at: string): string => {
  const date = new Date(at)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

export const firingOptionValuesOf = (options: FiringOptions): FiringOptionValues => ({
  precision: options.precision,
  jitter_seconds: options.jitter_seconds === 0 ? "" : String(options.jitter_seconds),
  starts_at: options.starts_at === null ? "" : dateTimeInputOf(options.starts_at),
  ends_at: options.ends_at === null ? "" : dateTimeInputOf(options.ends_at),
  excluded_days: options.excluded_days.join(", "),
  excluded_calendar: options.excluded_calendar?.url ?? "",
  on_pause: options.on_pause,
  pause_after_failures: String(options.pause_after_failures ?? "")
})

export const newFiringOptionValues = firingOptionValuesOf({
  precision: "minute",
  jitter_seconds: 0,
  starts_at: null,
  ends_at: null,
  excluded_days: [],
  excluded_calendar: null,
  on_pause: "cancel",
  pause_after_failures: null
})

export const firingOptionInputOf = (values: FiringOptionValues) => ({
  precision: values.precision,
  jitter_seconds: numberOrNull(values.jitter_seconds),
  starts_at: momentOrNull(values.starts_at),
  ends_at: momentOrNull(values.ends_at),
  excluded_days: daysOf(values),
  excluded_calendar: calendarOf(values),
  on_pause: values.on_pause,
  pause_after_failures: numberOrNull(values.pause_after_failures)
})

/** Returns the schedule preview's query parameters. */
export const previewQueryOf = (values: FiringOptionValues) => {
  const days = daysOf(values)
  const { ends_at, excluded_calendar, starts_at } = firingOptionInputOf(values)
  return {
    precision: values.precision,
    ...(starts_at !== null && { starts_at }),
    ...(ends_at !== null && { ends_at }),
    ...(excluded_calendar !== null && { excluded_calendar: excluded_calendar.url }),
    ...(days.length > 0 && { excluded_days: days.join(",") })
  }
}

const daysOf = ({ excluded_days }: FiringOptionValues) =>
  excluded_days.split(/[\s,;]+/).filter((day) => day !== "")

const calendarOf = ({ excluded_calendar }: FiringOptionValues) => {
  const url = excluded_calendar.trim()
  return url === "" ? null : { url }
}

const numberOrNull = (text: string) => (text === "" ? null : Number(text))

const momentOrNull = (text: string) => (text === "" ? null : new Date(text).toISOString())
