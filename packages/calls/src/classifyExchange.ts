import type { SuccessRule } from "@scheduling/domain/calls/CallOptions"
import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import type { ResponseOrFailure, ExchangeDetails } from "./CallResult.ts"
import { describeError } from "./describeError.ts"
import { ResponseTruncated } from "./exchange/ResponseParser.ts"
import type { Exchange } from "./exchange/Exchange.ts"
import { classifyResponse } from "./classifyResponse.ts"
import { secretsMasker } from "./maskSecrets.ts"
import { parseRetryAfter } from "./parseRetryAfter.ts"

export const rejectedCallResult = (error: ExecutionError): ResponseOrFailure => ({
  status_code: null,
  response_body: null,
  error,
  retry_after_seconds: null,
  outcome: "failed",
  completes_later: false,
  exchange: null
})

type Clean = (text: string) => string

const unmasked: Clean = (text) => text

const detailsOf = (
  { connecting, headers, statusCode, waitMs }: Exchange,
  clean: Clean
): ExchangeDetails => ({
  dns_ms: rounded(connecting?.dns_ms),
  connect_ms: rounded(connecting?.connect_ms),
  tls_ms: rounded(connecting?.tls_ms),
  wait_ms: rounded(waitMs),
  headers: statusCode === null ? null : clean(headers.shown)
})

const rounded = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : Math.round(ms)

/**
 * Classifies an exchange. A call without a complete response is retryable. A complete response is
 * classified by the success rule. Secrets are masked first, so that a rule cannot be used to guess
 * them.
 */
export const classifyExchange = (
  exchange: Exchange,
  timeout: ExecutionError | null,
  success: SuccessRule | null,
  nowMillis: number,
  secrets: ReadonlyArray<string> = []
): ResponseOrFailure => {
  const clean = secrets.length === 0 ? unmasked : secretsMasker(secrets)
  if (exchange.complete) return respondedResult(exchange, success, nowMillis, clean)
  const error = timeout ?? describeError(exchange.error ?? new ResponseTruncated())
  if (error.code === "address_refused") return rejectedCallResult(error)
  return {
    status_code: exchange.statusCode,
    response_body: exchange.body === null ? null : clean(exchange.body),
    error: { ...error, message: clean(error.message) },
    retry_after_seconds: parseRetryAfter(exchange.headers.retryAfter, nowMillis),
    outcome: "retryable",
    completes_later: false,
    exchange: detailsOf(exchange, clean)
  }
}

const respondedResult = (
  exchange: Exchange,
  success: SuccessRule | null,
  nowMillis: number,
  clean: Clean
): ResponseOrFailure => {
  const { headers, statusCode } = exchange
  const body = exchange.body === null ? null : clean(exchange.body)
  const status = statusCode ?? 0
  const { error, outcome } = classifyResponse(status, body, success)
  return {
    status_code: status,
    response_body: body,
    error,
    retry_after_seconds:
      outcome === "retryable" ? parseRetryAfter(headers.retryAfter, nowMillis) : null,
    outcome,
    completes_later: status === 202 && headers.complete?.toLowerCase() === "later",
    exchange: detailsOf(exchange, clean)
  }
}
