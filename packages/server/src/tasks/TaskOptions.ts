import {
  type CallOptions,
  callOptions,
  isTooLong,
  type Retry,
  retryDefaults,
  type RetryInput,
  tooLong
} from "@scheduling/domain/calls/CallOptions"
import { type Callbacks, callbacks } from "@scheduling/domain/calls/Callbacks"
import {
  type ExcludedCalendar,
  type FiringOptions,
  firingOptions
} from "@scheduling/domain/cron/FiringOptions"
import { jitterMs } from "@scheduling/domain/cron/jitterMs"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import { timestampOrNull } from "../store/index.ts"

/**
 * The columns in which a task keeps rare options of the contract. An option that the contract
 * declares in one of these groups is stored, changed and shown with no further code.
 */
const groups = {
  call_options: callOptions,
  firing_options: firingOptions,
  ending_options: callbacks
} as const

export type OptionColumn = keyof typeof groups

/** Each column has the options that are set, or null if none is. */
export interface OptionColumns {
  readonly call_options: CallOptions | null
  readonly firing_options: FiringOptions | null
  readonly ending_options: Callbacks | null
}

export type RareOption = keyof CallOptions | keyof FiringOptions | keyof Callbacks

/**
 * The fields of a definition or of a change as the columns of a row. An absent option stays as it
 * was `before`, and null takes it away.
 */
export const keptOptions = <Changes extends object, Column extends OptionColumn>(
  columns: ReadonlyArray<Column>,
  changes: Changes,
  before?: Pick<OptionColumns, Column> & Retries
): Omit<Changes, RareOption> & Pick<OptionColumns, Column> => {
  const given = {
    ...changes,
    ...(columns.some((name) => name === "call_options") && retriesOf(changes, before))
  } as Readonly<Record<string, unknown>>
  const kept = columns.map((column) => {
    const { unset } = groups[column]
    const options: Record<string, unknown> = { ...before?.[column] }
    for (const [name, none] of Object.entries(unset)) {
      const value = given[name]
      if (value === undefined) continue
      if (value === null || isDeepStrictEqual(value, none)) delete options[name]
      else options[name] = value
    }
    return [column, Object.keys(options).length === 0 ? null : options]
  })
  const others = Object.entries(given).filter(([name]) => !rareOptions.has(name))
  return Object.fromEntries([...others, ...kept]) as Omit<Changes, RareOption> &
    Pick<OptionColumns, Column>
}

/** The names of all rare options. */
export const rareOptions: ReadonlySet<string> = new Set(
  Object.values(groups).flatMap(({ unset }) => Object.keys(unset))
)

interface Retries {
  readonly retry_count?: number
  readonly call_options?: CallOptions | null
}

/** `retry_count` and the count of `retry` are the same. Each of them may change alone. */
const retriesOf = (
  { retry, retry_count }: { readonly retry?: RetryInput | null; readonly retry_count?: number },
  before: Retries = {}
) => {
  const count = retry?.count ?? retry_count ?? before.retry_count ?? 0
  const known: Retry | undefined = before.call_options?.retry
  return {
    retry_count: count,
    retry:
      retry === undefined
        ? known && { ...known, count }
        : retry && { ...retryDefaults, ...retry, count }
  }
}

/** Refuses a timeout that only a call with a completion may have. Give it the changed row. */
export const checkTimeout = ({
  call_options,
  timeout_seconds
}: {
  readonly call_options?: CallOptions | null
  readonly timeout_seconds?: number
}): Effect.Effect<void, ValidationFailed> =>
  isTooLong({ ...call_options, ...(timeout_seconds !== undefined && { timeout_seconds }) })
    ? Effect.fail(ValidationFailed.at(tooLong.path, tooLong.code, tooLong.problem))
    : Effect.void

/** The URLs of the callbacks that a request gives, as they are checked. */
export const callbackTargets = (given: {
  readonly [Name in keyof Callbacks]: Callbacks[Name] | null
}) =>
  (["on_failure", "on_success"] as const).flatMap((name) => {
    const callback = given[name]
    return callback == null ? [] : [{ path: [name, "url"], url: callback.url }]
  })

/** The part of the options that decides which slots a schedule has and when their runs are due. */
export const slotOptionsOf = ({ firing_options }: Pick<OptionColumns, "firing_options">) => {
  const { ends_at, excluded_calendar, excluded_days, jitter_seconds, starts_at } =
    firing_options ?? {}
  return { ends_at, excluded_calendar, excluded_days, jitter_seconds, starts_at }
}

type ShownFiring = Omit<FiringOptions, "excluded_calendar"> & {
  readonly excluded_calendar?: ExcludedCalendar
  readonly paused_reason?: string
  readonly next_run_at: string | null
}

/** What is known of a calendar is in a table of its own, see `showCalendars`. */
const unread = { fetched_at: null, error: null, days: 0 }

/** What an answer shows of a schedule in addition to the columns of its row. */
export const shownFiring = ({
  firing_options,
  id,
  next_fire_at,
  paused_reason
}: Pick<OptionColumns, "firing_options"> & {
  readonly id: string
  readonly next_fire_at: Date | null
  readonly paused_reason: string | null
}): ShownFiring => {
  const { excluded_calendar, ...others } = firing_options ?? {}
  return {
    ...others,
    ...(excluded_calendar !== undefined && {
      excluded_calendar: { ...excluded_calendar, ...unread }
    }),
    ...(paused_reason !== null && { paused_reason }),
    next_run_at: timestampOrNull(
      next_fire_at === null || firing_options?.jitter_seconds === undefined
        ? next_fire_at
        : dueOf(id, next_fire_at, firing_options.jitter_seconds)
    )
  }
}

const dueOf = (id: string, slot: Date, jitterSeconds: number) =>
  new Date(slot.getTime() + jitterMs(id, slot.getTime(), jitterSeconds))
