import type { Cause } from "effect"
import { Effect, ErrorReporter, Schema } from "effect"
import { nounOf, type Resource, resources } from "./Resource.ts"
import { Timestamp } from "./Timestamp.ts"
import { issueAt, ValidationIssue } from "./ValidationIssue.ts"

export const errorMessage = Schema.String.annotate({
  description: "A human-readable message. Its wording may change."
})

export const retryAfterSeconds = Schema.Int.annotate({
  description: "How many seconds to wait before retrying.",
  examples: [1]
})

const retryAfter = ({ retry_after }: { readonly retry_after: number }) => ({
  "retry-after": String(retry_after)
})

/** The request id that every error response contains next to `detail`. */
const requestId = Schema.String.annotate({
  description: "The id of this request in the logs, as in the header `x-request-id`.",
  examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"]
})

/** An error declared in the contract, as sent to the client. */
export interface ApiFailure {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly detail: { readonly error: string; readonly message: string }
}

const apiFailure = Symbol.for("@scheduling/domain/ApiError")

export const isApiFailure = (error: unknown): error is ApiFailure =>
  typeof error === "object" && error !== null && apiFailure in error

/**
 * The common error format. Every error response is `{ "detail": { "error": "<code>", "message":
 * "<human-readable>", ...fields }, "request_id": "<id>" }`.
 *
 * Services fail with a class created by `ApiError`, endpoints declare it, and typed clients catch
 * it. On the server, `request_id` stays empty until the response is sent.
 */
export const ApiError =
  <Self = never>() =>
  <
    const Tag extends string,
    const Code extends string,
    const Fields extends Schema.Struct.Fields = {}
  >(
    tag: Tag,
    definition: {
      readonly status: number
      readonly code: Code
      readonly message: string | ((fields: FieldsOf<Fields>) => string)
      readonly fields?: Fields
      readonly headers?: (fields: FieldsOf<Fields>) => Readonly<Record<string, string>>
    }
  ): ApiErrorClass<Self, Tag, Code, Fields> => {
    const { code, message, status } = definition
    const detail = Schema.Struct({
      error: Schema.Literal(code).annotate({
        description: "A stable, machine-readable error code."
      }),
      message: errorMessage,
      ...definition.fields
    }).annotate({ description: "What went wrong." })
    const Base = Schema.Error<ApiErrorInstance>(tag)(
      Schema.Struct({ detail, request_id: requestId }),
      {
        httpApiStatus: status,
        description: typeof message === "string" ? message : code
      }
    )

    class ApiErrorBase extends Base {
      static readonly code = code
      static readonly status = status

      constructor(input: object = {}, options?: Schema.MakeOptions) {
        super(("detail" in input ? input : wireOf(input)) as never, options)
      }

      get _tag() {
        return tag
      }

      override get message(): string {
        return this.detail.message
      }

      get status(): number {
        return status
      }

      get headers(): Readonly<Record<string, string>> {
        return definition.headers?.(this.detail as FieldsOf<Fields>) ?? {}
      }

      override get [ErrorReporter.ignore]() {
        return status < 500
      }

      get [apiFailure]() {
        return true
      }
    }

    const wireOf = (fields: object) => ({
      detail: { error: code, message: explain(fields), ...fields },
      request_id: ""
    })

    const explain = (fields: object) =>
      typeof message === "string" ? message : message(fields as FieldsOf<Fields>)

    for (const field of Object.keys(definition.fields ?? {})) {
      Object.defineProperty(ApiErrorBase.prototype, field, {
        get(this: ApiErrorInstance) {
          return this.detail[field]
        }
      })
    }

    return ApiErrorBase as unknown as ApiErrorClass<Self, Tag, Code, Fields>
  }

export class ValidationFailed extends ApiError<ValidationFailed>()("ValidationFailed", {
  status: 422,
  code: "validation_failed",
  message: "The request is not valid.",
  fields: {
    issues: Schema.Array(ValidationIssue).annotate({
      description: "All problems found in the request, at most 100."
    })
  }
}) {
  /** Creates a failure with one issue; see `issueAt`. */
  static readonly at = (...issue: Parameters<typeof issueAt>) =>
    new ValidationFailed({ issues: [issueAt(...issue)] })
}

export class MalformedJson extends ApiError<MalformedJson>()("MalformedJson", {
  status: 400,
  code: "malformed_json",
  message: "The body is not valid JSON in UTF-8."
}) {}

export class MalformedRequest extends ApiError<MalformedRequest>()("MalformedRequest", {
  status: 400,
  code: "malformed_request",
  message: "The request is not valid HTTP/1.1."
}) {}

export class InvalidSignature extends ApiError<InvalidSignature>()("InvalidSignature", {
  status: 400,
  code: "invalid_signature",
  message: "The request was not signed by its sender within the last five minutes."
}) {}

export class MisdirectedRequest extends ApiError<MisdirectedRequest>()("MisdirectedRequest", {
  status: 421,
  code: "misdirected_request",
  message:
    "The service does not serve the host in the Host header. The operator can add the host to ALLOWED_HOSTS."
}) {}

export class OriginRefused extends ApiError<OriginRefused>()("OriginRefused", {
  status: 403,
  code: "origin_refused",
  message:
    "Pages of this origin may not log in or register here. The operator of the service can add the origin to ALLOWED_ORIGINS."
}) {}

export class RequestTimeout extends ApiError<RequestTimeout>()("RequestTimeout", {
  status: 408,
  code: "request_timeout",
  message: "The request did not arrive completely in time. Send it again."
}) {}

export class HeadersTooLarge extends ApiError<HeadersTooLarge>()("HeadersTooLarge", {
  status: 431,
  code: "headers_too_large",
  message: "The headers of the request are larger than 16 KiB. Send fewer or shorter ones."
}) {}

export class PayloadTooLarge extends ApiError<PayloadTooLarge>()("PayloadTooLarge", {
  status: 413,
  code: "payload_too_large",
  message: "The body is larger than 1 MiB. Send a smaller one."
}) {}

export class UnsupportedMediaType extends ApiError<UnsupportedMediaType>()("UnsupportedMediaType", {
  status: 415,
  code: "unsupported_media_type",
  message: "The body must be JSON, with the header Content-Type: application/json."
}) {}

const missing = (resource: Resource): string => {
  switch (resource) {
    case "route":
      return "No endpoint at this URL. The reference at /docs lists all endpoints; none ends with a slash."
    case "workspace":
      return "No workspace with this id, or you are not a member of it."
    case "session":
      return "None of your sessions has this id."
    default:
      return `No ${nounOf(resource)} with this id in this workspace.`
  }
}

export class NotFound extends ApiError<NotFound>()("NotFound", {
  status: 404,
  code: "not_found",
  message: ({ resource }) => missing(resource),
  fields: {
    resource: Schema.Literals(resources).annotate({
      description: "What was not found.",
      examples: ["workspace"]
    })
  }
}) {}

export class MethodNotAllowed extends ApiError<MethodNotAllowed>()("MethodNotAllowed", {
  status: 405,
  code: "method_not_allowed",
  message: ({ allow }) => `This URL does not support the method. It supports ${allow.join(", ")}.`,
  fields: {
    allow: Schema.Array(Schema.String).annotate({
      description: "The methods that the URL supports."
    })
  },
  headers: ({ allow }) => ({ allow: allow.join(", ") })
}) {}

export class Conflict extends ApiError<Conflict>()("Conflict", {
  status: 409,
  code: "conflict",
  message: "The state of the resource does not allow this.",
  fields: {
    resource: Schema.Literals(resources).annotate({
      description: "The kind of record that caused the conflict.",
      examples: ["queue"]
    }),
    field: Schema.NullOr(Schema.String)
      .pipe(Schema.withConstructorDefault(Effect.succeed(null)))
      .annotate({
        description:
          "The field that caused the conflict. Null if the conflict is with the state of the record as a whole.",
        examples: ["key"]
      }),
    existing_id: Schema.NullOr(Schema.String)
      .pipe(Schema.withConstructorDefault(Effect.succeed(null)))
      .annotate({
        description: "The id of the existing record that conflicts. Null if there is none.",
        examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"]
      })
  }
}) {}

export class Stale extends ApiError<Stale>()("Stale", {
  status: 412,
  code: "stale",
  message: ({ version }) =>
    version === null
      ? "The record with this version no longer exists. Omit the version to create a new record."
      : `The record has changed since you read it: its version is now ${version}. Read it again.`,
  fields: {
    version: Schema.NullOr(Schema.Int).annotate({
      description: "The current version of the record. Null if the record does not exist.",
      examples: [4]
    })
  }
}) {}

export class IdempotencyMismatch extends ApiError<IdempotencyMismatch>()("IdempotencyMismatch", {
  status: 422,
  code: "idempotency_mismatch",
  message:
    "This Idempotency-Key was used for a different request within the last 24 hours. Use a new key for a new request."
}) {}

export class IdempotencyInProgress extends ApiError<IdempotencyInProgress>()(
  "IdempotencyInProgress",
  {
    status: 409,
    code: "idempotency_in_progress",
    message:
      "A request with this Idempotency-Key is still in progress. Retry in a moment to get its response.",
    fields: { retry_after: retryAfterSeconds },
    headers: retryAfter
  }
) {}

/** Errors of an endpoint that accepts an `Idempotency-Key`. */
export const idempotencyErrors = [IdempotencyMismatch, IdempotencyInProgress] as const

/** Failures of a service that replays responses to repeated requests. */
export type IdempotencyFailure = IdempotencyMismatch | IdempotencyInProgress

const quotaNoun = (quota: string) => quota.replaceAll("_", " ").replace("api keys", "API keys")

export class QuotaExceeded extends ApiError<QuotaExceeded>()("QuotaExceeded", {
  status: 402,
  code: "quota_exceeded",
  message: ({ quota, limit, plan }) =>
    `The plan "${plan}" allows at most ${limit} ${quotaNoun(quota)}. The limit has been reached.`,
  fields: {
    quota: Schema.String.annotate({
      description: "The limit that was reached.",
      examples: ["active_api_keys"]
    }),
    limit: Schema.Int.annotate({ description: "The value of the limit.", examples: [100] }),
    plan: Schema.String.annotate({
      description: "The plan that has this limit.",
      examples: ["self_hosted"]
    })
  }
}) {}

export class RateLimited extends ApiError<RateLimited>()("RateLimited", {
  status: 429,
  code: "rate_limited",
  message: ({ retry_after }) => `Too many requests. Try again in ${retry_after} s.`,
  fields: { retry_after: retryAfterSeconds },
  headers: retryAfter
}) {}

export class InternalError extends ApiError<InternalError>()("InternalError", {
  status: 500,
  code: "internal_error",
  message:
    "An internal error occurred. The operator can find the cause in the log by the request id."
}) {}

export class Unavailable extends ApiError<Unavailable>()("Unavailable", {
  status: 503,
  code: "unavailable",
  message: "The service cannot reach its database. Retry in a moment.",
  fields: { retry_after: retryAfterSeconds },
  headers: retryAfter
}) {}

const FailingLoop = Schema.Struct({
  loop: Schema.String.annotate({
    description: "What the loop does.",
    examples: ["rolling up statistics"]
  }),
  since: Timestamp.annotate({ description: "When the loop started to fail." })
})

export class Degraded extends ApiError<Degraded>()("Degraded", {
  status: 503,
  code: "degraded",
  message: ({ failing }) =>
    `The service responds to requests, but these background loops are failing: ${failing.map(({ loop }) => loop).join(", ")}.`,
  fields: {
    failing: Schema.Array(FailingLoop).annotate({
      description: "The background loops of this node that keep failing."
    }),
    retry_after: retryAfterSeconds
  },
  headers: retryAfter
}) {}

type FieldsOf<Fields extends Schema.Struct.Fields> = Schema.Struct.Type<Fields>

interface ApiErrorInstance {
  readonly detail: {
    readonly error: string
    readonly message: string
    readonly [field: string]: unknown
  }
  readonly request_id: string
}

type Wire<Code extends string, Fields extends Schema.Struct.Fields> = Schema.Struct<{
  readonly detail: Schema.Struct<
    { readonly error: Schema.Literal<Code>; readonly message: Schema.String } & Fields
  >
  readonly request_id: Schema.String
}>

type SchemaStatics<Self, Code extends string, Fields extends Schema.Struct.Fields> = Schema.Class<
  Self,
  Wire<Code, Fields>,
  Cause.YieldableError
>

type Input<Fields extends Schema.Struct.Fields> = Schema.Struct.MakeIn<Fields> & {
  readonly message?: string
}

type Arguments<Fields extends Schema.Struct.Fields> =
  {} extends Input<Fields> ? [input?: Input<Fields>] : [input: Input<Fields>]

export type ApiErrorClass<
  Self,
  Tag extends string,
  Code extends string,
  Fields extends Schema.Struct.Fields
> = Pick<SchemaStatics<Self, Code, Fields>, keyof SchemaStatics<Self, Code, Fields>> & {
  readonly code: Code
  readonly status: number
  new (...args: Arguments<Fields>): Cause.YieldableError &
    ApiFailure & {
      readonly _tag: Tag
      readonly detail: Wire<Code, Fields>["Type"]["detail"]
      readonly request_id: string
    } & FieldsOf<Fields>
}
