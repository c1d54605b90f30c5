import { Schema, type SchemaAST, SchemaTransformation } from "effect"
import { CallHeaders, CallHeadersUpdate } from "./CallHeaders.ts"
import {
  bodyIsSent,
  callOptions,
  type Completion,
  maxAnswerSeconds,
  maxCompletionSeconds,
  retriesAgree,
  RetryUpdate,
  timeoutFits
} from "./CallOptions.ts"
import { mask } from "./credentialHeaders.ts"
import { whenAbsent } from "../shared/requests/whenAbsent.ts"
import { text } from "../shared/Text.ts"
import { oneOf } from "../shared/oneOf.ts"
import { authorizationIsGivenOnce, type CallAuth } from "./CallAuth.ts"
import { referencesAreKnown, TemplateUrl } from "./TemplateCall.ts"
import { options } from "../shared/options.ts"

export const maxBodyBytes = 256 * 1024

export const CallMethod = oneOf(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"], {
  identifier: "CallMethod",
  description: "The HTTP method.",
  examples: ["POST"]
})
export type CallMethod = typeof CallMethod.Type

const encoder = new TextEncoder()

/** True if the body has at most 256 KiB as it is sent. A character may take three bytes. */
export const bodyFits = (body: string): boolean =>
  body.length <= maxBodyBytes / 3 || encoder.encode(body).length <= maxBodyBytes

const CallBody = text({ min: 0, max: maxBodyBytes }).check(
  // Strings with too many characters are reported by the other check.
  Schema.makeFilter((body) => body.length > maxBodyBytes || bodyFits(body), {
    expected: "at most 256 KiB in UTF-8"
  })
)

/** A text, which is sent as it is, or any other JSON value, which is sent as JSON. */
export const CallBodyInput = Schema.Json.pipe(
  Schema.decodeTo(
    Schema.NullOr(CallBody),
    SchemaTransformation.transform<string | null, Schema.Json>({
      decode: (value) =>
        value === null || typeof value === "string" ? value : JSON.stringify(value),
      encode: (body) => body
    })
  )
)

const always = options({
  method: { absent: "POST", input: CallMethod, shown: CallMethod, default: "POST" },
  headers: {
    absent: "None",
    input: CallHeaders.annotate({
      description:
        "At most 50. Those that the service sets itself, such as `idempotency-key`, `webhook-*`, " +
        "`x-scheduling-*` and `scheduling-complete-url`, are refused. A body without a `content-type` goes out as `application/json`. " +
        `A credential sent as \`${mask}\`, as answers show it, keeps the stored value; without one the header is refused.`
    }),
    shown: Schema.Record(Schema.String, Schema.String).annotate({
      description:
        `The headers of the call. Values that look like credentials are shown as \`${mask}\`, unless ` +
        "they are a reference, perhaps after `Bearer`, `Basic`, `Token` or `ApiKey`. Send them back as they are shown to keep them."
    }),
    default: {}
  },
  body: {
    absent: "None",
    input: CallBodyInput.pipe(
      Schema.annotateEncoded({
        description:
          "A string, which is sent as it is, or any other JSON value, which is sent as JSON. Without " +
          "a `content-type` among the headers it goes out as `application/json`. At most 256 KiB. " +
          "Refused with GET and HEAD. Like the URL and the headers it may use values that are known when the " +
          "call is made: `{{ secrets.NAME }}`, `{{ run.id }}`, `{{ run.attempt }}`, `{{ run.scheduled_for }}`, " +
          "`{{ task.name }}`, `{{ task.key }}`, `{{ input.items[0].id }}`, `{{ now }}` and `{{ uuid }}`. " +
          "Write `{{ '{{' }}` for two braces.",
        examples: [{ full: true }]
      })
    ),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The body of the call as it is sent. Null if it has none."
    }),
    default: null
  },
  timeout_seconds: {
    absent: "30",
    input: Schema.Int.check(
      Schema.isBetween({ minimum: 1, maximum: maxCompletionSeconds })
    ).annotate({
      description:
        "How long one attempt may take, from connecting to the last byte. At most " +
        `${maxAnswerSeconds}, or a day with \`completion\`: then it is the time until the job reports, ` +
        `and the answer has ${maxAnswerSeconds} s of it.`,
      examples: [30]
    }),
    shown: Schema.Int.annotate({ description: "How long one attempt may take." }),
    default: 30
  },
  retry_count: {
    absent: "0",
    input: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 })).annotate({
      description:
        "How many times a call is tried again after a connection error, a timeout, 408, 425, 429 or " +
        "5xx, or an answer whose body was not as it should be.",
      examples: [3]
    }),
    shown: Schema.Int.annotate({ description: "How often a call that failed is made again." }),
    default: 0
  }
})

const url = Schema.String.annotate({ description: "The address that is called." })
const { method, ...others } = always.fields

/** The fields of an outgoing call, of a task or of a step. */
export const call = {
  input: { url: TemplateUrl, ...always.input, ...callOptions.input },
  fields: { method, url, ...others, ...callOptions.fields },
  defaults: { ...always.defaults, ...callOptions.defaults }
}

/** The fields of a call that its rules compare. */
interface ComparedFields {
  readonly method?: string
  readonly url?: string
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string | null
  readonly timeout_seconds?: number
  readonly retry_count?: number
  readonly retry?: { readonly count?: number } | null
  readonly completion?: Completion | null
  readonly auth?: CallAuth | null
}

type Rules = readonly [SchemaAST.Check<ComparedFields>, ...Array<SchemaAST.Check<ComparedFields>>]

/** The rules of a call that has all its fields. */
export const callChecks: Rules = [
  bodyIsSent,
  retriesAgree,
  timeoutFits,
  authorizationIsGivenOnce,
  referencesAreKnown
]

/** The rules that the fields of a PATCH keep among themselves. */
export const callUpdateChecks: Rules = [
  bodyIsSent,
  retriesAgree,
  authorizationIsGivenOnce,
  referencesAreKnown
]

/** The fields of a call whose objects a PATCH merges. */
export const callUpdate = {
  headers: Schema.optionalKey(CallHeadersUpdate),
  retry: whenAbsent(
    "The usual waits",
    Schema.NullOr(RetryUpdate).annotate({ description: "Retries with waits of your own." })
  )
}

/** A call with every field given. */
export const HttpCall = Schema.Struct(call.fields).annotate({ identifier: "HttpCall" })
export type HttpCall = typeof HttpCall.Type
