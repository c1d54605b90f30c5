import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { deriveRareOptions } from "../shared/deriveOptions.ts"
import { patchFields, optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { text } from "../shared/Text.ts"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { CallAuth } from "./CallAuth.ts"

const maxSearchedLength = 500

const statusRange = /^([2-5]\d\d)(?:-([2-5]\d\d))?$/

/** Parses `404` or `200-299` to its first and last status. */
export const statusRangeOf = (text: string): readonly [first: number, last: number] | undefined => {
  const [, first, last = first] = statusRange.exec(text) ?? []
  if (first === undefined || Number(first) > Number(last)) return undefined
  return [Number(first), Number(last)]
}

export const StatusRange = Schema.String.check(
  Schema.makeFilter((range) => statusRangeOf(range) !== undefined, {
    expected: "a status from 200 to 599, or a range of them such as 200-299",
    toJsonSchema: () => ({ pattern: statusRange.source })
  })
)

const searchText = text({ min: 1, max: maxSearchedLength })

/** The rule that decides whether a response is a success. */
export interface SuccessRule {
  readonly success_codes?: ReadonlyArray<string>
  readonly body_contains?: string
  readonly body_lacks?: string
}

export const retryDefaults = { first_seconds: 1, factor: 2, max_seconds: 3_600 } as const

const seconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400 }))

/** How often a call is retried, and the delays between the retries. */
export const Retry = Schema.Struct({
  count: Schema.Int.annotate({ description: "How many times a failed call is retried." }),
  first_seconds: Schema.Int.annotate({
    description: "The delay before the first retry, in seconds."
  }),
  factor: Schema.Finite.annotate({
    description: "The factor by which each delay is longer than the previous one."
  }),
  max_seconds: Schema.Int.annotate({ description: "The maximum delay, in seconds." })
}).annotate({
  identifier: "Retry",
  description: "Retries with custom delays.",
  examples: [{ count: 5, first_seconds: 10, factor: 2, max_seconds: 600 }]
})
export type Retry = typeof Retry.Type

export const RetryInput = Schema.Struct({
  count: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 })).annotate({
    description: "How many times a failed call is retried."
  }),
  first_seconds: optionalWithDefault(
    "1",
    Schema.NullOr(seconds).annotate({
      description: "The delay before the first retry, in seconds."
    })
  ),
  factor: optionalWithDefault(
    "2",
    Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 1, maximum: 10 }))).annotate({
      description: "The factor by which each delay is longer than the previous one."
    })
  ),
  max_seconds: optionalWithDefault(
    "3,600",
    Schema.NullOr(seconds).annotate({ description: "The maximum delay, in seconds." })
  )
}).annotate({
  identifier: "RetryInput",
  description:
    "Each delay is a random time between half of its value and the full value, so that calls that failed " +
    "together are not retried together. A `Retry-After` of up to an hour extends it.",
  examples: [{ count: 5, first_seconds: 10, factor: 2, max_seconds: 600 }]
})
export type RetryInput = typeof RetryInput.Type

export const RetryUpdate = RetryInput.mapFields(patchFields).annotate({
  identifier: "RetryUpdate",
  description: "Absent fields are unchanged.",
  examples: [{ max_seconds: 600 }]
})
export type RetryUpdate = typeof RetryUpdate.Type

export const Completion = oneOf(["callback", "auto"], {
  identifier: "Completion",
  description:
    "Each call sends a completion URL in `Scheduling-Complete-Url`. `callback`: a successful " +
    "response only means that the job has started, and a POST to the URL ends the attempt. `auto`: the " +
    "same if the response is 202 with `Scheduling-Complete: later`; any other response ends the attempt."
})
export type Completion = typeof Completion.Type

/** The maximum timeout of a call without `completion`. */
export const maxResponseSeconds = 900

/** The maximum timeout of a call whose target reports to the completion URL. */
export const maxCompletionSeconds = 86_400

/** Options that few calls use. Null in a request removes an option. */
export const callOptions = deriveRareOptions({
  success_codes: {
    absent: "200-299",
    input: Schema.NullOr(Schema.Array(StatusRange).check(Schema.isBetweenLength(1, 10))).annotate({
      description: "The status codes and ranges that count as success.",
      examples: [["200-299", "404"]]
    }),
    shown: Schema.NullOr(Schema.Array(Schema.String)).annotate({
      description: "The status codes that count as success. Null means 200-299."
    })
  },
  body_contains: {
    absent: "None",
    input: Schema.NullOr(searchText).annotate({
      description:
        "A response is a success only if the first 10,000 bytes of its body contain this text, " +
        "at most 500 characters. A call whose response lacks it is retried if retries remain.",
      examples: ['"status":"ok"']
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The text that a successful response must contain. Null if there is none."
    })
  },
  body_lacks: {
    absent: "None",
    input: Schema.NullOr(searchText).annotate({
      description:
        "A response is a failure if the first 10,000 bytes of its body contain this text, " +
        "at most 500 characters. A call whose response contains it is retried if retries remain.",
      examples: ['"error"']
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The text that a successful response must not contain. Null if there is none."
    })
  },
  retry: {
    absent: "Delays of up to 1 s, 2 s, 4 s and so on",
    input: Schema.NullOr(RetryInput).annotate({
      description:
        "Retries with custom delays. `count` is the same as `retry_count`: if both are given, " +
        "they must agree."
    }),
    shown: Schema.NullOr(Retry).annotate({
      description: "Custom retry delays. Null means the default delays."
    })
  },
  completion: {
    absent: "The response ends the attempt",
    input: Schema.NullOr(Completion).annotate({
      description:
        "For jobs that continue after their response: when the job has finished, it sends a request to the completion URL that it received with the call."
    }),
    shown: Schema.NullOr(Completion).annotate({
      description:
        "How a job that continues after its response reports that it has finished. Null if the response ends the attempt."
    })
  },
  auth: {
    absent: "None",
    input: Schema.NullOr(CallAuth).annotate({
      description:
        "How the call authenticates, instead of with an `authorization` header. The secret parts " +
        "are references to secrets of the workspace."
    }),
    shown: Schema.NullOr(CallAuth).annotate({
      description: "How the call authenticates. Null if it only uses its headers."
    })
  }
})

/** The options of a call. */
export interface CallOptions extends SuccessRule {
  readonly retry?: Retry
  readonly completion?: Completion
  readonly auth?: CallAuth
}

interface Retries {
  readonly retry_count?: number
  readonly retry?: { readonly count?: number } | null
}

export const retryCountCheck = Schema.makeFilter<Retries>(({ retry, retry_count }) =>
  retry?.count === undefined || retry_count === undefined || retry.count === retry_count
    ? undefined
    : filterIssue({
        path: ["retry", "count"],
        code: "invalid",
        problem: "differs from retry_count: send only one of the two"
      })
)

interface Sent {
  readonly method?: string
  readonly body?: string | null
}

/**
 * Returns true if a call has a body that is not sent, because the call is a GET or HEAD.
 */
export const hasUnsentBody = ({ body, method }: Sent): boolean =>
  body != null && (method === "GET" || method === "HEAD")

export const unsentBodyProblem: FieldProblem = {
  path: ["body"],
  code: "invalid",
  problem: "is not sent with GET and HEAD: leave it out, or use another method"
}

/** A PATCH may contain only one of `method` and `body`, so the merged call is checked too. */
export const unsentBodyCheck = Schema.makeFilter<Sent>((call) =>
  hasUnsentBody(call) ? filterIssue(unsentBodyProblem) : undefined
)

interface Timed {
  readonly timeout_seconds?: number
  readonly completion?: Completion | null
}

export const isTimeoutTooLong = ({ completion, timeout_seconds = 0 }: Timed): boolean =>
  timeout_seconds > maxResponseSeconds && completion == null

export const timeoutProblem: FieldProblem = {
  path: ["timeout_seconds"],
  code: "out_of_range",
  problem: `must be at most ${maxResponseSeconds}, unless the call has a completion`
}

/**
 * A PATCH may contain only one of `timeout_seconds` and `completion`, so the merged task is checked
 * too.
 */
export const timeoutCheck = Schema.makeFilter<Timed>((call) =>
  isTimeoutTooLong(call) ? filterIssue(timeoutProblem) : undefined
)
