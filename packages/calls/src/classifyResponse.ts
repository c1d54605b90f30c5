import { type SuccessRule, statusRangeOf } from "@scheduling/domain/calls/CallOptions"
import {
  type ExecutionError,
  executionError,
  statusError
} from "@scheduling/domain/executions/ExecutionError"

export interface ResponseClassification {
  readonly outcome: "success" | "retryable" | "failed"
  /** Null if the response counts as success. */
  readonly error: ExecutionError | null
}

/**
 * Classifies a response by the success rule of its task. A body that breaks the rule is retryable,
 * because the problem may be as temporary as a 5xx.
 */
export const classifyResponse = (
  status: number,
  body: string | null,
  rule: SuccessRule | null
): ResponseClassification => {
  if (rule === null) return classifyStatus(status)
  const { body_contains, body_lacks, success_codes } = rule
  if (success_codes !== undefined && !isOneOf(status, success_codes)) {
    const message = `the status ${status} is not one of ${success_codes.join(", ")}`
    return unsuccessful(status, executionError("http_status", message))
  }
  if (success_codes === undefined && !isSuccess(status)) return classifyStatus(status)
  const text = body ?? ""
  if (body_contains !== undefined && !text.includes(body_contains)) {
    return rejectedBody(
      `the response does not contain ${quoted(body_contains)} in the part that is stored`
    )
  }
  if (body_lacks !== undefined && text.includes(body_lacks)) {
    return rejectedBody(`the response contains ${quoted(body_lacks)}`)
  }
  return { outcome: "success", error: null }
}

const rejectedBody = (message: string): ResponseClassification => ({
  outcome: "retryable",
  error: executionError("response_rule", message)
})

const classifyStatus = (status: number): ResponseClassification =>
  isSuccess(status) ? { outcome: "success", error: null } : unsuccessful(status, errorOf(status))

const unsuccessful = (status: number, error: ExecutionError): ResponseClassification => ({
  outcome: isTemporary(status) ? "retryable" : "failed",
  error
})

const errorOf = (status: number): ExecutionError =>
  status >= 300 && status < 400
    ? executionError("http_status", `responded with ${status}, and redirects are not followed`)
    : statusError(status)

const isSuccess = (status: number) => status >= 200 && status < 300

const isTemporary = (status: number) =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600)

const isOneOf = (status: number, ranges: ReadonlyArray<string>) =>
  ranges.some((range) => {
    const [first, last] = statusRangeOf(range) ?? [0, 0]
    return status >= first && status <= last
  })

const shownLength = 100

const quoted = (text: string) =>
  JSON.stringify(text.length > shownLength ? `${text.slice(0, shownLength)}…` : text)
