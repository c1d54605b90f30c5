import type { Cause } from "effect"
import { Effect, ErrorReporter, Schema } from "effect"
import { HttpServerRespondable, HttpServerResponse } from "effect/http"
import { resources } from "./Resource.ts"
import { Timestamp } from "./Timestamp.ts"

export const errorMessage = Schema.String.annotate({
  description: "A text for people, which may be reworded."
})

export const retryAfterSeconds = Schema.Int.annotate({
  description: "How many seconds to wait before the next try.",
  examples: [1]
})

/**
 * The one error shape: every failure leaves the service as `{ "detail": { "error": "<code>",
 * "message": "<for people>", ...fields } }`.
 *
 * One class made by `ApiError` is all of this: what services fail with, what endpoints declare,
 * what the wire carries and what a typed client catches.
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
        description: "The code of the failure, for programs. It is stable."
      }),
      message: errorMessage,
      ...definition.fields
    }).annotate({ description: "What went wrong." })
    const Base = Schema.Error<ApiErrorInstance>(tag)(Schema.Struct({ detail }), {
      httpApiStatus: status,
      description: typeof message === "string" ? message : code
    })

    class ApiErrorBase extends Base {
      static readonly code = code
      static readonly status = status

      constructor(input: object = {}, options?: Schema.MakeOptions) {
        super(
          ("detail" in input
            ? input
            : { detail: { error: code, message: explain(input), ...input } }) as never,
          options
        )
      }

      get _tag() {
        return tag
      }

      override get message(): string {
        return this.detail.message
      }

      get headers(): Readonly<Record<string, string>> {
        return definition.headers?.(this.detail as FieldsOf<Fields>) ?? {}
      }

      override get [ErrorReporter.ignore]() {
        return status < 500
      }

      [HttpServerRespondable.symbol]() {
        return Effect.succeed(
          HttpServerResponse.jsonUnsafe({ detail: this.detail }, { status, headers: this.headers })
        )
      }
    }

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
  message: "The request is not valid; see `issues`.",
  fields: {
    issues: Schema.Array(
      Schema.Struct({
        path: Schema.Array(Schema.Union([Schema.String, Schema.Int])).annotate({
          description: "Where in the request it is: field names, and array indexes counted from 0."
        }),
        message: errorMessage
      }).annotate({
        identifier: "ValidationIssue",
        examples: [{ path: ["scopes", 0], message: "Expected one of the scope names" }]
      })
    ).annotate({
      description: "Everything that is wrong with the request, at most 100 items."
    })
  }
}) {}

export class MalformedJson extends ApiError<MalformedJson>()("MalformedJson", {
  status: 400,
  code: "malformed_json",
  message: "The body is not valid JSON."
}) {}

export class MalformedRequest extends ApiError<MalformedRequest>()("MalformedRequest", {
  status: 400,
  code: "malformed_request",
  message: "The request is not valid HTTP."
}) {}

export class MisdirectedRequest extends ApiError<MisdirectedRequest>()("MisdirectedRequest", {
  status: 421,
  code: "misdirected_request",
  message: "The service does not answer for the host that the request names; see ALLOWED_HOSTS."
}) {}

export class OriginRefused extends ApiError<OriginRefused>()("OriginRefused", {
  status: 403,
  code: "origin_refused",
  message: "A page of another origin may not ask for credentials here; see ALLOWED_ORIGINS."
}) {}

export class RequestTimeout extends ApiError<RequestTimeout>()("RequestTimeout", {
  status: 408,
  code: "request_timeout",
  message: "The request took too long to arrive."
}) {}

export class HeadersTooLarge extends ApiError<HeadersTooLarge>()("HeadersTooLarge", {
  status: 431,
  code: "headers_too_large",
  message: "The request's headers are larger than 16 KiB."
}) {}

export class PayloadTooLarge extends ApiError<PayloadTooLarge>()("PayloadTooLarge", {
  status: 413,
  code: "payload_too_large",
  message: "The body is larger than 1 MiB."
}) {}

export class UnsupportedMediaType extends ApiError<UnsupportedMediaType>()("UnsupportedMediaType", {
  status: 415,
  code: "unsupported_media_type",
  message: "Send the body as application/json."
}) {}

export class NotFound extends ApiError<NotFound>()("NotFound", {
  status: 404,
  code: "not_found",
  message: ({ resource }) => `There is no such ${resource.replaceAll("_", " ")}.`,
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
  message: ({ allow }) => `This route allows ${allow.join(", ")}.`,
  fields: {
    allow: Schema.Array(Schema.String).annotate({ description: "The methods that it allows." })
  },
  headers: ({ allow }) => ({ allow: allow.join(", ") })
}) {}

export class Conflict extends ApiError<Conflict>()("Conflict", {
  status: 409,
  code: "conflict",
  message: "The state of the resource does not allow this."
}) {}

export class IdempotencyConflict extends ApiError<IdempotencyConflict>()("IdempotencyConflict", {
  status: 409,
  code: "idempotency_conflict",
  message:
    "This Idempotency-Key was used within 24 hours with a different request, or is in use now."
}) {}

export class QuotaExceeded extends ApiError<QuotaExceeded>()("QuotaExceeded", {
  status: 402,
  code: "quota_exceeded",
  message: ({ quota, limit }) => `The limit of ${limit} ${quota.replaceAll("_", " ")} is reached.`,
  fields: {
    quota: Schema.String.annotate({
      description: "The limit that was reached.",
      examples: ["active_api_keys"]
    }),
    limit: Schema.Int.annotate({ description: "How many it allows.", examples: [100] }),
    plan: Schema.String.annotate({
      description: "The plan that has this limit.",
      examples: ["self_hosted"]
    })
  }
}) {}

const retryAfter = ({ retry_after }: { readonly retry_after: number }) => ({
  "retry-after": String(retry_after)
})

export class RateLimited extends ApiError<RateLimited>()("RateLimited", {
  status: 429,
  code: "rate_limited",
  message: ({ retry_after }) => `Too many requests; try again in ${retry_after} s.`,
  fields: { retry_after: retryAfterSeconds },
  headers: retryAfter
}) {}

export class InternalError extends ApiError<InternalError>()("InternalError", {
  status: 500,
  code: "internal_error",
  message: "Something went wrong on our side. Look up this request id in the logs.",
  fields: {
    request_id: Schema.String.annotate({
      description: "The id of this request in the logs.",
      examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"]
    })
  }
}) {}

export class Unavailable extends ApiError<Unavailable>()("Unavailable", {
  status: 503,
  code: "unavailable",
  message: "The service cannot reach its database; try again in a moment.",
  fields: { retry_after: retryAfterSeconds },
  headers: retryAfter
}) {}

const FailingLoop = Schema.Struct({
  loop: Schema.String.annotate({
    description: "What the loop does.",
    examples: ["rolling up statistics"]
  }),
  since: Timestamp.annotate({ description: "When it failed first." })
})

export class Degraded extends ApiError<Degraded>()("Degraded", {
  status: 503,
  code: "degraded",
  message: ({ failing }) =>
    `The service answers, but these background loops are failing: ${failing.map(({ loop }) => loop).join(", ")}.`,
  fields: {
    failing: Schema.Array(FailingLoop).annotate({
      description: "The background loops of this node that fail again and again."
    }),
    retry_after: retryAfterSeconds
  },
  headers: retryAfter
}) {}

// ---------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------

type FieldsOf<Fields extends Schema.Struct.Fields> = Schema.Struct.Type<Fields>

interface ApiErrorInstance {
  readonly detail: {
    readonly error: string
    readonly message: string
    readonly [field: string]: unknown
  }
}

type Wire<Code extends string, Fields extends Schema.Struct.Fields> = Schema.Struct<{
  readonly detail: Schema.Struct<
    { readonly error: Schema.Literal<Code>; readonly message: Schema.String } & Fields
  >
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
    HttpServerRespondable.Respondable & {
      readonly _tag: Tag
      readonly detail: Wire<Code, Fields>["Type"]["detail"]
      readonly headers: Readonly<Record<string, string>>
    } & FieldsOf<Fields>
}
