import type { CronTask, OnPause } from "@scheduling/sdk"
import { localTime } from "./localTime.ts"

/** The options of a schedule that few have, as they are typed. Empty: not set. */
export interface FiringOptionValues {
  readonly jitter_seconds: string
  readonly starts_at: string
  readonly ends_at: string
  readonly excluded_days: string
  readonly on_pause: OnPause
  readonly disable_after_failures: string
}

export type FiringOptions = Pick<
  CronTask,
  | "jitter_seconds"
  | "starts_at"
  | "ends_at"
  | "excluded_days"
  | "on_pause"
  | "disable_after_failures"
>

export const firingOptionValuesOf = (options: FiringOptions): FiringOptionValues => ({
  jitter_seconds: String(options.jitter_seconds ?? ""),
  starts_at: options.starts_at === undefined ? "" : localTime(options.starts_at),
  ends_at: options.ends_at === undefined ? "" : localTime(options.ends_at),
  excluded_days: options.excluded_days?.join(", ") ?? "",
  on_pause: options.on_pause ?? "cancel",
  disable_after_failures: String(options.disable_after_failures ?? "")
})

/** As the API takes it. */
export const firingOptionInputOf = (values: FiringOptionValues) => ({
  jitter_seconds: numberOrNull(values.jitter_seconds),
  starts_at: momentOrNull(values.starts_at),
  ends_at: momentOrNull(values.ends_at),
  excluded_days: daysOf(values),
  on_pause: values.on_pause,
  disable_after_failures: numberOrNull(values.disable_after_failures)
})

/** As a preview takes it. */
export const slotQueryOf = (values: FiringOptionValues) => {
  const days = daysOf(values)
  const { ends_at, starts_at } = firingOptionInputOf(values)
  return {
    ...(starts_at !== null && { starts_at }),
    ...(ends_at !== null && { ends_at }),
    ...(days.length > 0 && { excluded_days: days.join(",") })
  }
}

const daysOf = ({ excluded_days }: FiringOptionValues) =>
  excluded_days.split(/[\s,;]+/).filter((day) => day !== "")

const numberOrNull = (text: string) => (text === "" ? null : Number(text))

const momentOrNull = (text: string) => (text === "" ? null : new Date(text).toISOString())
