import type { Completion, CronTask, RetryInput } from "@scheduling/sdk"
import * as bounds from "../../data/bounds.ts"

/** A call's advanced options as form values. An empty string means not set. */
export interface CallOptionValues {
  readonly success_codes: string
  readonly body_contains: string
  readonly body_lacks: string
  readonly first_seconds: string
  readonly factor: string
  readonly max_seconds: string
  readonly completion: Completion | ""
}

export type CallOptions = Pick<
  CronTask,
  "success_codes" | "body_contains" | "body_lacks" | "retry" | "completion"
>

/** The labels for how an attempt is completed if the response alone does not complete it. */
export const completionLabels: Readonly<Record<Completion, string>> = {
  callback: "When the job reports its result",
  auto: "Depending on the response: immediately, or when the job reports its result"
}

export const maxTimeoutSecondsOf = ({ completion }: Pick<CallOptionValues, "completion">) =>
  completion === "" ? bounds.maxResponseSeconds : bounds.CronTaskInput.timeout_seconds.max

export const callOptionValuesOf = ({
  body_contains,
  body_lacks,
  completion,
  retry,
  success_codes
}: CallOptions): CallOptionValues => ({
  success_codes: success_codes?.join(", ") ?? "",
  body_contains: body_contains ?? "",
  body_lacks: body_lacks ?? "",
  first_seconds: String(retry?.first_seconds ?? ""),
  factor: String(retry?.factor ?? ""),
  max_seconds: String(retry?.max_seconds ?? ""),
  completion: completion ?? ""
})

export const newCallOptionValues = callOptionValuesOf({
  success_codes: null,
  body_contains: null,
  body_lacks: null,
  retry: null,
  completion: null
})

export const callOptionInputOf = (values: CallOptionValues, retry_count: number) => {
  const codes = values.success_codes.split(/[\s,;]+/).filter((code) => code !== "")
  return {
    success_codes: codes.length === 0 ? null : codes,
    body_contains: values.body_contains || null,
    body_lacks: values.body_lacks || null,
    retry: retryOf(values, retry_count),
    completion: values.completion || null
  }
}

const retryOf = (
  { factor, first_seconds, max_seconds }: CallOptionValues,
  count: number
): RetryInput | null =>
  first_seconds + factor + max_seconds === ""
    ? null
    : {
        count,
        first_seconds: numberOrNull(first_seconds),
        factor: numberOrNull(factor),
        max_seconds: numberOrNull(max_seconds)
      }

const numberOrNull = (text: string) => (text === "" ? null : Number(text))
