import {
  type CallOptions,
  callOptions,
  hasUnsentBody,
  isTimeoutTooLong,
  type Retry,
  retryDefaults,
  type RetryInput,
  type RetryUpdate,
  timeoutProblem,
  unsentBodyProblem
} from "@scheduling/domain/calls/CallOptions"
import { headersProblems, mergedHeaders } from "@scheduling/domain/calls/CallHeaders"
import {
  duplicateAuthorizationProblem,
  setsAuthorizationTwice
} from "@scheduling/domain/calls/CallAuth"
import { type Callbacks, callbacks } from "@scheduling/domain/calls/Callbacks"
import { type FiringOptions, firingOptions } from "@scheduling/domain/cron/FiringOptions"
import { jitterMs } from "@scheduling/domain/cron/jitterMs"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt } from "@scheduling/domain/shared/ValidationIssue"
import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { TaskFlowColumns } from "../engine/index.ts"
import { timestampOrNull } from "../store/index.ts"
import { flowColumns } from "./flowColumns.ts"

/**
 * The jsonb columns for rarely used options. An option that the contract declares in one of these
 * groups is stored, changed and shown without further code.
 */
const groups = {
  call_options: callOptions,
  firing_options: firingOptions,
  ending_options: callbacks
} as const

export type OptionColumn = keyof typeof groups

/**
 * The columns for rare options. Each column contains the options that are set, or is null if none
 * is set.
 */
export interface OptionColumns {
  readonly call_options: CallOptions | null
  readonly firing_options: FiringOptions | null
  readonly ending_options: Callbacks | null
}

/** An option that few tasks set. */
export type RareOption = keyof CallOptions | keyof FiringOptions | keyof Callbacks

/**
 * Converts the fields of a definition or a change to a row's columns. An absent option keeps its
 * value from `before`, and null removes it.
 */
export const optionColumnsAfter = <Changes extends object, Column extends OptionColumn>(
  columns: ReadonlyArray<Column>,
  changes: Changes,
  before?: Pick<OptionColumns, Column> & Retries
): Omit<Changes, RareOption | "flow"> & Pick<OptionColumns, Column> & Partial<TaskFlowColumns> => {
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
  return {
    ...(Object.fromEntries([...others, ...kept]) as Omit<Changes, RareOption | "flow"> &
      Pick<OptionColumns, Column>),
    ...flowColumns(given)
  }
}

/** Returns what a response shows for a column's options if none is set. */
export const unsetOptionsOf = (column: OptionColumn): Readonly<Record<string, unknown>> =>
  groups[column].unset

/** The names of the options that few tasks set. */
export const rareOptions: ReadonlySet<string> = new Set(
  Object.values(groups).flatMap(({ unset }) => Object.keys(unset))
)

interface Retries {
  readonly retry_count?: number
  readonly call_options?: CallOptions | null
}

/**
 * Returns the retry settings. `retry_count` and `retry.count` are the same setting, and a change
 * can contain either of them.
 */
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
        : retry && { ...retryDefaults, ...withDefaults(retry), count }
  }
}

interface CallChanges {
  readonly headers?: Readonly<Record<string, string | null>>
  readonly retry?: RetryUpdate | null
  readonly retry_count?: number
}

/** Returns a PATCH's fields. Objects in it are merged into the row's objects. */
export const mergeCallChanges = <Changes extends CallChanges>(
  changes: Changes,
  row: Retries & { readonly headers?: Readonly<Record<string, string>> }
) => {
  const { headers, retry, ...others } = changes
  return {
    ...others,
    ...(headers !== undefined && { headers: mergedHeaders(row.headers ?? {}, headers) }),
    ...(retry !== undefined && {
      retry: retry && {
        ...retryDefaults,
        ...row.call_options?.retry,
        ...withDefaults(retry),
        count: retry.count ?? changes.retry_count ?? row.retry_count ?? 0
      }
    })
  }
}

/** Replaces null with each field's default. */
const withDefaults = ({ factor, first_seconds, max_seconds }: RetryUpdate) => ({
  ...(first_seconds !== undefined && {
    first_seconds: first_seconds ?? retryDefaults.first_seconds
  }),
  ...(factor !== undefined && { factor: factor ?? retryDefaults.factor }),
  ...(max_seconds !== undefined && { max_seconds: max_seconds ?? retryDefaults.max_seconds })
})

/**
 * Checks the complete call after a change. The contract sees only the changed fields, so it cannot
 * detect fields that contradict each other.
 */
export const checkChangedCall = ({
  body,
  call_options,
  headers = {},
  method,
  timeout_seconds
}: {
  readonly body?: string | null
  readonly call_options?: CallOptions | null
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly timeout_seconds?: number
}): Effect.Effect<void, ValidationFailed> => {
  const call = { ...call_options, ...(timeout_seconds !== undefined && { timeout_seconds }) }
  const problems = [
    ...(isTimeoutTooLong(call) ? [timeoutProblem] : []),
    ...(hasUnsentBody({ ...(method !== undefined && { method }), body: body ?? null })
      ? [unsentBodyProblem]
      : []),
    ...(setsAuthorizationTwice({ ...call, headers }) ? [duplicateAuthorizationProblem] : []),
    ...headersProblems(headers).map((one) => ({ ...one, path: ["headers", ...one.path] }))
  ]
  const issues = problems.map(({ code, path, problem }) => issueAt(path, code, problem))
  return issues.length === 0 ? Effect.void : Effect.fail(new ValidationFailed({ issues }))
}

/** Returns the URLs of a request's callbacks, in the form in which targets are checked. */
export const callbackTargets = (given: {
  readonly [Name in keyof Callbacks]: Callbacks[Name] | null
}) =>
  (["on_failure", "on_success"] as const).flatMap((name) => {
    const callback = given[name]
    return callback == null ? [] : [{ path: [name, "url"], url: callback.url }]
  })

/** Returns the options that determine a schedule's slots, and when the slots' runs are due. */
export const slotOptionsOf = ({ firing_options }: Pick<OptionColumns, "firing_options">) => {
  const { ends_at, excluded_calendar, excluded_days, jitter_seconds, starts_at } =
    firing_options ?? {}
  return { ends_at, excluded_calendar, excluded_days, jitter_seconds, starts_at }
}

/** A calendar's state before `withCalendarStates` reads it from the table of calendars. */
const unread = { fetched_at: null, error: null, days: 0 }

/**
 * Returns a response's fields about a schedule that have neither a column nor an option with the
 * same name.
 */
export const firingFields = ({
  firing_options,
  id,
  next_fire_at,
  paused_reason,
  status
}: Pick<OptionColumns, "firing_options"> & {
  readonly id: string
  readonly next_fire_at: Date | null
  readonly paused_reason: string | null
  readonly status: string
}) => {
  const calendar = firing_options?.excluded_calendar
  return {
    ...(calendar !== undefined && { excluded_calendar: { ...calendar, ...unread } }),
    paused: status === "paused",
    paused_reason,
    next_run_at: nextRunTimeOf({ firing_options, id, next_fire_at })
  }
}

/** Returns when a task runs next, including its jitter. */
export const nextRunTimeOf = ({
  firing_options,
  id,
  next_fire_at
}: Pick<OptionColumns, "firing_options"> & {
  readonly id: string
  readonly next_fire_at: Date | null
}) =>
  timestampOrNull(
    next_fire_at === null || firing_options?.jitter_seconds === undefined
      ? next_fire_at
      : dueOf(id, next_fire_at, firing_options.jitter_seconds)
  )

const dueOf = (id: string, slot: Date, jitterSeconds: number) =>
  new Date(slot.getTime() + jitterMs(id, slot.getTime(), jitterSeconds))
