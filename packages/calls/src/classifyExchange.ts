import type { SuccessRule } from "@scheduling/domain/calls/CallOptions"
import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import type { Answer } from "./CallResult.ts"
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
  completes_later: false
})

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
    completes_later: false
  }
}

const answered = (
  { body, headers, statusCode }: Exchange,
  success: SuccessRule | null,
  nowMillis: number
): Answer => {
  const status = statusCode ?? 0
  const { error, outcome } = classifyAnswer(status, body, success)
  return {
    status_code: status,
    response_body: body,
    error,
    retry_after_seconds:
      outcome === "retryable" ? parseRetryAfter(headers.retryAfter, nowMillis) : null,
    outcome,
    completes_later: status === 202 && headers.complete?.toLowerCase() === "later"
  }
}
