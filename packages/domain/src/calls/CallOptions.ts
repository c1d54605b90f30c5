import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { rareOptions } from "../shared/options.ts"
import { patchFields, whenAbsent } from "../shared/requests/whenAbsent.ts"
import { text } from "../shared/Text.ts"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { CallAuth } from "./CallAuth.ts"

const maxSearchedLength = 500

const statusRange = /^([2-5]\d\d)(?:-([2-5]\d\d))?$/

/** The first and the last status of `404` or `200-299`. */
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

const searched = text({ min: 1, max: maxSearchedLength })

/** The rule by which an answer counts as a success. */
export interface SuccessRule {
  readonly success_codes?: ReadonlyArray<string>
  readonly body_contains?: string
  readonly body_lacks?: string
}

export const retryDefaults = { first_seconds: 1, factor: 2, max_seconds: 3_600 } as const

const seconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400 }))

/** The number of retries of a call, and the waits between them. */
export const Retry = Schema.Struct({
  count: Schema.Int.annotate({ description: "How many times a call that failed is made again." }),
  first_seconds: Schema.Int.annotate({ description: "The wait before the first further attempt." }),
  factor: Schema.Finite.annotate({
    description: "How many times as long each wait is as the last."
  }),
  max_seconds: Schema.Int.annotate({ description: "The longest wait." })
}).annotate({
  identifier: "Retry",
  description: "Retries with waits of their own.",
  examples: [{ count: 5, first_seconds: 10, factor: 2, max_seconds: 600 }]
})
export type Retry = typeof Retry.Type

export const RetryInput = Schema.Struct({
  count: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 })).annotate({
    description: "How many times a call is tried again."
  }),
  first_seconds: whenAbsent(
    "1",
    Schema.NullOr(seconds).annotate({ description: "The wait before the first further attempt." })
  ),
  factor: whenAbsent(
    "2",
    Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 1, maximum: 10 }))).annotate({
      description: "How many times as long each wait is as the one before it."
    })
  ),
  max_seconds: whenAbsent(
    "3,600",
    Schema.NullOr(seconds).annotate({ description: "The longest wait." })
  )
}).annotate({
  identifier: "RetryInput",
  description:
    "Each wait is a random time between half of it and the whole, so that calls that failed " +
    "together do not come back together. A `Retry-After` of up to an hour makes it longer.",
  examples: [{ count: 5, first_seconds: 10, factor: 2, max_seconds: 600 }]
})
export type RetryInput = typeof RetryInput.Type

export const RetryUpdate = RetryInput.mapFields(patchFields).annotate({
  identifier: "RetryUpdate",
  description: "Fields that are absent keep their values.",
  examples: [{ max_seconds: 600 }]
})
export type RetryUpdate = typeof RetryUpdate.Type

export const Completion = oneOf(["callback", "auto"], {
  identifier: "Completion",
  description:
    "Each call carries a URL in `Scheduling-Complete-Url`. `callback`: an answer that counts as a " +
    "success only says that the job has begun, and a POST to the URL ends the attempt. `auto`: the " +
    "same if the answer is 202 with `Scheduling-Complete: later`, and every other answer ends it."
})
export type Completion = typeof Completion.Type

/** The longest timeout of a call without a completion. */
export const maxAnswerSeconds = 900

/** The longest timeout of a call whose target reports to the completion URL. */
export const maxCompletionSeconds = 86_400

/** The options that few calls have. Null removes one. */
export const callOptions = rareOptions({
  success_codes: {
    absent: "200-299",
    input: Schema.NullOr(Schema.Array(StatusRange).check(Schema.isBetweenLength(1, 10))).annotate({
      description: "The statuses that count as a success: codes and ranges.",
      examples: [["200-299", "404"]]
    }),
    shown: Schema.NullOr(Schema.Array(Schema.String)).annotate({
      description: "The statuses that count as a success. Null if 200-299 do."
    })
  },
  body_contains: {
    absent: "None",
    input: Schema.NullOr(searched).annotate({
      description:
        "An answer is a success only if the first 10,000 bytes of its body contain this text, " +
        "at most 500 characters. An answer without it is tried again, as far as there are retries.",
      examples: ['"status":"ok"']
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "What an answer must contain to be a success. Null if nothing."
    })
  },
  body_lacks: {
    absent: "None",
    input: Schema.NullOr(searched).annotate({
      description:
        "An answer is no success if the first 10,000 bytes of its body contain this text, " +
        "at most 500 characters. An answer with it is tried again, as far as there are retries.",
      examples: ['"error"']
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "What an answer must not contain to be a success. Null if nothing."
    })
  },
  retry: {
    absent: "A wait of up to 1 s, then of up to 2 s, 4 s and so on",
    input: Schema.NullOr(RetryInput).annotate({
      description:
        "Retries with waits of your own. Its `count` is the `retry_count`: if both are given, " +
        "they must agree."
    }),
    shown: Schema.NullOr(Retry).annotate({
      description: "Retries with waits of their own. Null: the usual waits."
    })
  },
  completion: {
    absent: "The answer ends the attempt",
    input: Schema.NullOr(Completion).annotate({
      description:
        "For jobs that go on after their answer: a request to the URL that the call carries says " +
        "when they are done."
    }),
    shown: Schema.NullOr(Completion).annotate({
      description:
        "How the end of a job is reported that goes on after its answer. Null: it does not."
    })
  },
  auth: {
    absent: "None",
    input: Schema.NullOr(CallAuth).annotate({
      description:
        "How the call authenticates itself, in place of an `authorization` header. The secret parts " +
        "are references to secrets of the workspace."
    }),
    shown: Schema.NullOr(CallAuth).annotate({
      description: "How the call authenticates itself. Null if only its headers say."
    })
  }
})

/** The options that a call has. */
export interface CallOptions extends SuccessRule {
  readonly retry?: Retry
  readonly completion?: Completion
  readonly auth?: CallAuth
}

interface Retries {
  readonly retry_count?: number
  readonly retry?: { readonly count?: number } | null
}

export const retriesAgree = Schema.makeFilter<Retries>(({ retry, retry_count }) =>
  retry?.count === undefined || retry_count === undefined || retry.count === retry_count
    ? undefined
    : filterIssue({
        path: ["retry", "count"],
        code: "invalid",
        problem: "differs from retry_count; give only one of them"
      })
)

interface Sent {
  readonly method?: string
  readonly body?: string | null
}

/** Servers may drop or refuse the body of such a request. */
export const hasUnsentBody = ({ body, method }: Sent): boolean =>
  body != null && (method === "GET" || method === "HEAD")

export const unsentBody: FieldProblem = {
  path: ["body"],
  code: "invalid",
  problem: "is not sent with GET and HEAD: leave it out, or use another method"
}

/** A change may give one of the two only, so it is checked with what it changes. */
export const bodyIsSent = Schema.makeFilter<Sent>((call) =>
  hasUnsentBody(call) ? filterIssue(unsentBody) : undefined
)

interface Timed {
  readonly timeout_seconds?: number
  readonly completion?: Completion | null
}

export const isTooLong = ({ completion, timeout_seconds = 0 }: Timed): boolean =>
  timeout_seconds > maxAnswerSeconds && completion == null

export const tooLong: FieldProblem = {
  path: ["timeout_seconds"],
  code: "out_of_range",
  problem: `must be at most ${maxAnswerSeconds}, unless the call has a completion`
}

/** A change may give only one of the two fields, so the changed task is checked too. */
export const timeoutFits = Schema.makeFilter<Timed>((call) =>
  isTooLong(call) ? filterIssue(tooLong) : undefined
)
