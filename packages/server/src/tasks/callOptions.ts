import {
  type CallOptions,
  retryDefaults,
  type Retry,
  type RetryInput
} from "@scheduling/domain/shared/CallOptions"
import { mergedOptions } from "./mergedOptions.ts"

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
    call_options: mergedOptions<CallOptions>(withCount(call_options, count), {
      success_codes,
      body_contains,
      body_lacks,
      retry: completed(retry, count)
    })
  }
}

const completed = (retry: RetryInput | null | undefined, count: number): Retry | null | undefined =>
  retry && { ...retryDefaults, ...retry, count }

/** `retry_count` may change alone. */
const withCount = (before: CallOptions | null, count: number): CallOptions | null =>
  before?.retry === undefined ? before : { ...before, retry: { ...before.retry, count } }
