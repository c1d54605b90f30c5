import { type SuccessRule, statusRangeOf } from "@scheduling/domain/calls/CallOptions"

export interface Judgement {
  readonly outcome: "success" | "retryable" | "failed"
  /** Null where the status says it all. */
  readonly error: string | null
}

/**
 * Whether an answer is a success. What its body says may be true for a moment only, like a 5xx, so
 * such a call may be tried again.
 */
export const judgeAnswer = (
  status: number,
  body: string | null,
  rule: SuccessRule | null
): Judgement => {
  if (rule === null) return { outcome: outcomeOf(status), error: redirectError(status) }
  const { body_contains, body_lacks, success_codes } = rule
  if (success_codes !== undefined && !isOneOf(status, success_codes)) {
    const error = `the status ${status} is not one of ${success_codes.join(", ")}`
    return { outcome: isTemporary(status) ? "retryable" : "failed", error }
  }
  if (success_codes === undefined && !isGood(status)) return judgeAnswer(status, body, null)
  const text = body ?? ""
  if (body_contains !== undefined && !text.includes(body_contains)) {
    return unfit(`the answer does not contain ${quoted(body_contains)} in the part that is kept`)
  }
  if (body_lacks !== undefined && text.includes(body_lacks)) {
    return unfit(`the answer contains ${quoted(body_lacks)}`)
  }
  return { outcome: "success", error: null }
}

const unfit = (error: string): Judgement => ({ outcome: "retryable", error })

const redirectError = (status: number) =>
  status >= 300 && status < 400 ? "redirects are not followed" : null

const outcomeOf = (status: number): Judgement["outcome"] => {
  if (isGood(status)) return "success"
  return isTemporary(status) ? "retryable" : "failed"
}

const isGood = (status: number) => status >= 200 && status < 300

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
