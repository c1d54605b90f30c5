import { Schema, type SchemaAST, SchemaTransformation } from "effect"
import { CallHeaders, CallHeadersUpdate } from "./CallHeaders.ts"
import {
  unsentBodyCheck,
  callOptions,
  type Completion,
  maxResponseSeconds,
  maxCompletionSeconds,
  retryCountCheck,
  RetryUpdate,
  timeoutCheck
} from "./CallOptions.ts"
import { mask } from "./credentialHeaders.ts"
import { optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { text } from "../shared/Text.ts"
import { oneOf } from "../shared/oneOf.ts"
import { duplicateAuthorizationCheck, type CallAuth } from "./CallAuth.ts"
import { knownReferencesCheck, TemplateUrl } from "./TemplateCall.ts"
import { deriveOptions } from "../shared/deriveOptions.ts"

export const maxBodyBytes = 256 * 1024

export const CallMethod = oneOf(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"], {
  identifier: "CallMethod",
  description: "The HTTP method.",
  examples: ["POST"]
})
export type CallMethod = typeof CallMethod.Type

const encoder = new TextEncoder()

/** Returns true if the encoded body has at most 256 KiB. A UTF-16 unit takes up to three bytes. */
export const isBodyWithinLimit = (body: string): boolean =>
  body.length <= maxBodyBytes / 3 || encoder.encode(body).length <= maxBodyBytes

const CallBody = text({ min: 0, max: maxBodyBytes }).check(
  // A text with too many characters passes here, because the length check reports it.
  Schema.makeFilter((body) => body.length > maxBodyBytes || isBodyWithinLimit(body), {
    expected: "at most 256 KiB in UTF-8"
  })
)

/** A string, which is sent as is, or any other JSON value, which is sent as JSON. */
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

const always = deriveOptions({
  method: { absent: "POST", input: CallMethod, shown: CallMethod, default: "POST" },
  headers: {
    absent: "None",
    input: CallHeaders.annotate({
      description:
        "At most 50. Headers that the service sets, such as `idempotency-key`, `webhook-*`, " +
        "`x-scheduling-*` and `scheduling-complete-url`, are rejected. A body without a " +
        `\`content-type\` is sent as \`application/json\`. A credential sent as \`${mask}\`, as ` +
        "responses show it, keeps the stored value; if no value is stored, the header is " +
        "rejected."
    }),
    shown: Schema.Record(Schema.String, Schema.String).annotate({
      description:
        `The headers of the call. Values that look like credentials are shown as \`${mask}\`, unless ` +
        "they are a reference, optionally after `Bearer`, `Basic`, `Token` or `ApiKey`. Send the mask back to keep the value."
    }),
    default: {}
  },
  body: {
    absent: "None",
    input: CallBodyInput.pipe(
      Schema.annotateEncoded({
        description:
          "A string, which is sent as is, or any other JSON value, which is sent as JSON. " +
          "Without a `content-type` header, the body is sent as `application/json`. At most " +
          "256 KiB. Not allowed with GET and HEAD. The body, the URL and the headers may use " +
          "values that are known when the call is made: `{{ secrets.NAME }}`, `{{ run.id }}`, " +
          "`{{ run.attempt }}`, `{{ run.scheduled_for }}`, `{{ task.name }}`, " +
          "`{{ task.key }}`, `{{ input.items[0].id }}`, `{{ now }}` and `{{ uuid }}`. Write " +
          "`{{ '{{' }}` for two braces.",
        examples: [{ full: true }]
      })
    ),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The request body. Null if there is none."
    }),
    default: null
  },
  timeout_seconds: {
    absent: "30",
    input: Schema.Int.check(
      Schema.isBetween({ minimum: 1, maximum: maxCompletionSeconds })
    ).annotate({
      description:
        "The timeout of one attempt, from connecting to the last byte. At most " +
        `${maxResponseSeconds}, or a day with \`completion\`: then the timeout includes the time until the job reports, ` +
        `and the response must arrive within ${maxResponseSeconds} s.`,
      examples: [30]
    }),
    shown: Schema.Int.annotate({ description: "The timeout of one attempt, in seconds." }),
    default: 30
  },
  retry_count: {
    absent: "0",
    input: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 })).annotate({
      description:
        "How many times a call is retried after a connection error, a timeout, 408, 425, 429 or " +
        "5xx, or a response that fails `body_contains` or `body_lacks`.",
      examples: [3]
    }),
    shown: Schema.Int.annotate({ description: "How many times a failed call is retried." }),
    default: 0
  }
})

const url = Schema.String.annotate({ description: "The URL to call." })
const { method, ...others } = always.fields

/** The fields of a task's or a step's call. */
export const call = {
  input: { url: TemplateUrl, ...always.input, ...callOptions.input },
  fields: { method, url, ...others, ...callOptions.fields },
  defaults: { ...always.defaults, ...callOptions.defaults }
}

/** The fields that a call's checks compare with each other. */
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

/** The checks that involve several fields of a complete call. */
export const callChecks: Rules = [
  unsentBodyCheck,
  retryCountCheck,
  timeoutCheck,
  duplicateAuthorizationCheck,
  knownReferencesCheck
]

/**
 * The checks that involve several fields of a PATCH. Other problems can be found only in the merged
 * call.
 */
export const callUpdateChecks: Rules = [
  unsentBodyCheck,
  retryCountCheck,
  duplicateAuthorizationCheck,
  knownReferencesCheck
]

/** The fields of a call whose values are objects, which a PATCH merges with the stored value. */
export const callUpdate = {
  headers: Schema.optionalKey(CallHeadersUpdate),
  retry: optionalWithDefault(
    "The default delays",
    Schema.NullOr(RetryUpdate).annotate({ description: "Retries with custom delays." })
  )
}

/** A call with all its fields. */
export const HttpCall = Schema.Struct(call.fields).annotate({ identifier: "HttpCall" })
export type HttpCall = typeof HttpCall.Type
