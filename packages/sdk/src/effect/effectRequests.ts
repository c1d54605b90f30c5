import { Clock, Effect, Random, Result, SchemaAST } from "effect"
import {
  HttpClient,
  HttpClientError,
  HttpClientRequest,
  type HttpClientResponse
} from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { randomIdempotencyKey } from "../transport/idempotencyKey.ts"
import { type Failure, isRepeatable, retryDelayMs } from "../transport/retry.ts"

/** Adds one idempotency key for all attempts, on endpoints that accept a key. */
export const withIdempotencyKey = (
  endpoint: HttpApiEndpoint.Top,
  request: HttpClientRequest.HttpClientRequest
): HttpClientRequest.HttpClientRequest =>
  takesKey(endpoint) && request.headers[keyHeader] === undefined
    ? HttpClientRequest.setHeader(request, keyHeader, randomIdempotencyKey())
    : request

const takesKey = ({ headers }: HttpApiEndpoint.Top) =>
  headers !== undefined &&
  SchemaAST.isObjects(headers.ast) &&
  headers.ast.propertySignatures.some(({ name }) => name === keyHeader)

const keyHeader = "idempotency-key"

/** The retry policy of the promise client. `HttpClient.retryTransient` would retry every POST. */
export const retrySafeRequests = ({
  maxRetries = 2
}: {
  readonly maxRetries?: number | undefined
}): ((client: HttpClient.HttpClient) => HttpClient.HttpClient) =>
  HttpClient.transform((send, request) =>
    Effect.gen(function* () {
      const repeatable = isRepeatable(request.method, request.headers[keyHeader])
      for (let number = 0; ; number++) {
        const result = yield* Effect.result(send)
        const failure = number < maxRetries ? failureOf(result) : undefined
        const delay =
          failure &&
          retryDelayMs(failure, {
            number,
            isRepeatable: repeatable,
            now: yield* Clock.currentTimeMillis,
            random: yield* Random.next
          })
        if (delay === undefined) return yield* Effect.fromResult(result)
        yield* Effect.sleep(delay)
      }
    })
  )

const failureOf = (
  result: Result.Result<HttpClientResponse.HttpClientResponse, unknown>
): Failure | undefined => {
  if (Result.isSuccess(result)) {
    const { headers, status } = result.success
    return status < 400 ? undefined : { kind: "answer", status, retryAfter: headers["retry-after"] }
  }
  const error = result.failure
  return HttpClientError.isHttpClientError(error) && error.reason._tag === "TransportError"
    ? { kind: "connection", cause: error.reason.cause }
    : undefined
}
