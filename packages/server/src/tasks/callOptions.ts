import {
  type CallOptions,
  type Completion,
  isTooLong,
  retryDefaults,
  type Retry,
  type RetryInput,
  tooLong
} from "@scheduling/domain/calls/CallOptions"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
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
  readonly completion?: Completion | null
  readonly retry_count?: number
}

const noOptions: CallOptionsRow = { retry_count: 0, call_options: null }

/** The fields of a request, with the options of its call as they are kept. */
export const withCallOptions = <Changes extends CallChanges>(
  changes: Changes,
  { call_options, retry_count: before }: CallOptionsRow = noOptions
): Omit<Changes, keyof CallChanges> & CallOptionsRow => {
  const { body_contains, body_lacks, completion, retry, retry_count, success_codes, ...others } =
    changes
  const count = retry?.count ?? retry_count ?? before
  return {
    ...others,
    retry_count: count,
    call_options: mergedOptions<CallOptions>(withCount(call_options, count), {
      success_codes,
      body_contains,
      body_lacks,
      retry: completed(retry, count),
      completion
    })
  }
}

/** Of a task as it is once it is changed. */
export const checkTimeout = ({
  call_options,
  timeout_seconds
}: Pick<CallOptionsRow, "call_options"> & { readonly timeout_seconds: number }): Effect.Effect<
  void,
  ValidationFailed
> =>
  isTooLong({ timeout_seconds, ...call_options })
    ? Effect.fail(
        new ValidationFailed({ issues: [{ path: ["timeout_seconds"], message: tooLong }] })
      )
    : Effect.void

const completed = (retry: RetryInput | null | undefined, count: number): Retry | null | undefined =>
  retry && { ...retryDefaults, ...retry, count }

/** `retry_count` may change alone. */
const withCount = (before: CallOptions | null, count: number): CallOptions | null =>
  before?.retry === undefined ? before : { ...before, retry: { ...before.retry, count } }
