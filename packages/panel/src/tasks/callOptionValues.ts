import type { CronTask, RetryInput } from "@scheduling/sdk"

/** The options of a call that few calls have, as they are typed. Empty: not set. */
export interface CallOptionValues {
  readonly success_codes: string
  readonly body_contains: string
  readonly body_lacks: string
  readonly first_seconds: string
  readonly factor: string
  readonly max_seconds: string
}

export type CallOptions = Pick<CronTask, "success_codes" | "body_contains" | "body_lacks" | "retry">

export const callOptionValuesOf = ({
  body_contains = "",
  body_lacks = "",
  retry,
  success_codes = []
}: CallOptions): CallOptionValues => ({
  success_codes: success_codes.join(", "),
  body_contains,
  body_lacks,
  first_seconds: String(retry?.first_seconds ?? ""),
  factor: String(retry?.factor ?? ""),
  max_seconds: String(retry?.max_seconds ?? "")
})

/** As the API takes it. */
export const callOptionInputOf = (values: CallOptionValues, retry_count: number) => {
  const codes = values.success_codes.split(/[\s,;]+/).filter((code) => code !== "")
  return {
    success_codes: codes.length === 0 ? null : codes,
    body_contains: values.body_contains === "" ? null : values.body_contains,
    body_lacks: values.body_lacks === "" ? null : values.body_lacks,
    retry: retryOf(values, retry_count)
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
        ...(first_seconds !== "" && { first_seconds: Number(first_seconds) }),
        ...(factor !== "" && { factor: Number(factor) }),
        ...(max_seconds !== "" && { max_seconds: Number(max_seconds) })
      }
