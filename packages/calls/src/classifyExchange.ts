import type { SuccessRule } from "@scheduling/domain/calls/CallOptions"
import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import type { Answer, ExchangeDetails } from "./CallResult.ts"
import { describeError } from "./describeError.ts"
import { AnswerCutOff } from "./exchange/AnswerParser.ts"
import type { Exchange } from "./exchange/Exchange.ts"
import { classifyAnswer } from "./classifyAnswer.ts"
import { parseRetryAfter } from "./parseRetryAfter.ts"

export const refused = (error: ExecutionError): Answer => ({
  status_code: null,
  response_body: null,
  error,
  retry_after_seconds: null,
  outcome: "failed",
  completes_later: false,
  exchange: null
})

const detailsOf = ({ connecting, headers, statusCode, waitMs }: Exchange): ExchangeDetails => ({
  dns_ms: rounded(connecting?.dns_ms),
  connect_ms: rounded(connecting?.connect_ms),
  tls_ms: rounded(connecting?.tls_ms),
  wait_ms: rounded(waitMs),
  headers: statusCode === null ? null : headers.shown
})

const rounded = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : Math.round(ms)

/** A call without a complete answer is retryable. A complete answer is classified by the rule. */
export const classifyExchange = (
  exchange: Exchange,
  timeout: ExecutionError | null,
  success: SuccessRule | null,
  nowMillis: number
): Answer => {
  if (exchange.complete) return answered(exchange, success, nowMillis)
  const error = timeout ?? describeError(exchange.error ?? new AnswerCutOff())
  if (error.code === "address_refused") return refused(error)
  return {
    status_code: exchange.statusCode,
    response_body: exchange.body,
    error,
    retry_after_seconds: parseRetryAfter(exchange.headers.retryAfter, nowMillis),
    outcome: "retryable",
    completes_later: false,
    exchange: detailsOf(exchange)
  }
}

const answered = (exchange: Exchange, success: SuccessRule | null, nowMillis: number): Answer => {
  const { body, headers, statusCode } = exchange
  const status = statusCode ?? 0
  const { error, outcome } = classifyAnswer(status, body, success)
  return {
    status_code: status,
    response_body: body,
    error,
    retry_after_seconds:
      outcome === "retryable" ? parseRetryAfter(headers.retryAfter, nowMillis) : null,
    outcome,
    completes_later: status === 202 && headers.complete?.toLowerCase() === "later",
    exchange: detailsOf(exchange)
  }
}
