import {
  type CallOptions,
  retryDefaults,
  type Retry,
  type RetryInput
} from "@scheduling/domain/shared/CallOptions"
import { callOptionsOf } from "../queue/callOptions.ts"

/** The columns that the options of a call are kept in. */
export interface CallOptionsRow {
  readonly retry_count: number
  readonly call_options: CallOptions | null
}

interface CallChanges {
  readonly success_codes?: ReadonlyArray<string> | null
  readonly body_contains?: string | null
  readonly body_lacks?: string | null
  readonly retry?: RetryInput | null
  readonly retry_count?: number
}

const noOptions: CallOptionsRow = { retry_count: 0, call_options: null }

/** The fields of a request, with the options of its call as they are kept. */
export const withCallOptions = <Changes extends CallChanges>(
  changes: Changes,
  { call_options, retry_count: before }: CallOptionsRow = noOptions
): Omit<Changes, keyof CallChanges> & CallOptionsRow => {
  const { body_contains, body_lacks, retry, retry_count, success_codes, ...others } = changes
  const count = retry?.count ?? retry_count ?? before
  return {
    ...others,
    retry_count: count,
    call_options: callOptionsOf({
      ...changed("success_codes", success_codes, call_options),
      ...changed("body_contains", body_contains, call_options),
      ...changed("body_lacks", body_lacks, call_options),
      ...changed("retry", completed(retry, count), withCount(call_options, count))
    })
  }
}

/** Undefined changes nothing, null takes the option away. */
const changed = <Name extends keyof CallOptions>(
  name: Name,
  value: CallOptions[Name] | null | undefined,
  before: CallOptions | null
): Partial<CallOptions> => {
  const next = value === undefined ? before?.[name] : value
  return next === undefined || next === null ? {} : { [name]: next }
}

const completed = (retry: RetryInput | null | undefined, count: number): Retry | null | undefined =>
  retry && { ...retryDefaults, ...retry, count }

/** `retry_count` may change alone. */
const withCount = (before: CallOptions | null, count: number): CallOptions | null =>
  before?.retry === undefined ? before : { ...before, retry: { ...before.retry, count } }
