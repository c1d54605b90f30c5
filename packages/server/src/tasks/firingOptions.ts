import type { ExcludedCalendar, FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import { jitterMs } from "@scheduling/domain/cron/jitterMs"
import { timestampOrNull } from "../store/index.ts"
import { mergedOptions } from "./mergedOptions.ts"

/** The column that the options of a schedule are kept in. */
export interface FiringOptionsRow {
  readonly firing_options: FiringOptions | null
}

type FiringChanges = { readonly [Name in keyof FiringOptions]: FiringOptions[Name] | null }

const noOptions: FiringOptionsRow = { firing_options: null }

/** The fields of a request, with the options of its schedule as they are kept. */
export const withFiringOptions = <Changes extends FiringChanges>(
  changes: Changes,
  { firing_options }: FiringOptionsRow = noOptions
): Omit<Changes, keyof FiringOptions> & FiringOptionsRow => {
  const {
    disable_after_failures,
    ends_at,
    excluded_calendar,
    excluded_days,
    jitter_seconds,
    on_pause,
    precision,
    starts_at,
    ...others
  } = changes
  return {
    ...others,
    firing_options: mergedOptions<FiringOptions>(firing_options, {
      precision: precision === "minute" ? null : precision,
      jitter_seconds: jitter_seconds === 0 ? null : jitter_seconds,
      starts_at,
      ends_at,
      excluded_days: excluded_days?.length === 0 ? null : excluded_days,
      excluded_calendar,
      on_pause: on_pause === "cancel" ? null : on_pause,
      disable_after_failures
    })
  }
}

/** The part of the options that decides which slots a schedule has and when their runs are due. */
export const slotOptionsOf = ({ firing_options }: FiringOptionsRow) => {
  const { ends_at, excluded_calendar, excluded_days, jitter_seconds, starts_at } =
    firing_options ?? {}
  return { ends_at, excluded_calendar, excluded_days, jitter_seconds, starts_at }
}

type FiringRecord = Omit<FiringOptions, "excluded_calendar"> & {
  readonly excluded_calendar?: ExcludedCalendar
  readonly paused_reason?: string
  readonly next_run_at: string | null
}

/** What is known of the calendar stands in a table of its own, see `showCalendars`. */
const withUnread = (options: FiringOptions | null): Omit<FiringRecord, "next_run_at"> => {
  const { excluded_calendar, ...others } = options ?? {}
  return excluded_calendar === undefined
    ? others
    : { ...others, excluded_calendar: { ...excluded_calendar, ...unread } }
}

const unread = { fetched_at: null, error: null, days: 0 }

/** What a row shows of its schedule in addition to its columns. */
export const shownFiring = ({
  firing_options,
  id,
  next_fire_at,
  paused_reason
}: FiringOptionsRow & {
  readonly id: string
  readonly next_fire_at: Date | null
  readonly paused_reason: string | null
}): FiringRecord => ({
  ...withUnread(firing_options),
  ...(paused_reason !== null && { paused_reason }),
  next_run_at: timestampOrNull(
    next_fire_at === null || firing_options?.jitter_seconds === undefined
      ? next_fire_at
      : dueOf(id, next_fire_at, firing_options.jitter_seconds)
  )
})

const dueOf = (id: string, slot: Date, jitterSeconds: number) =>
  new Date(slot.getTime() + jitterMs(id, slot.getTime(), jitterSeconds))
