import type { CallAuth, CallMethod } from "@scheduling/sdk"
import { maskedValue } from "../../ui/values/maskedValue.ts"
import {
  defaultRunOn,
  runOnInputOf,
  type RunOnValues,
  runOnValuesOf,
  type RunOnSettings
} from "../../workers/runOnValues.ts"
import { authInputOf, type AuthValues, authValuesOf } from "./authValues.ts"
import {
  callOptionInputOf,
  type CallOptions,
  type CallOptionValues,
  callOptionValuesOf
} from "./callOptionValues.ts"

/**
 * A header in the form. `copied` marks a header whose masked value could not be copied and must be
 * entered again.
 */
export type FormHeader = readonly [name: string, value: string, copied?: "copied"]

export interface CallValues extends CallOptionValues, RunOnValues {
  readonly method: CallMethod
  readonly url: string
  readonly headers: ReadonlyArray<FormHeader>
  readonly auth: AuthValues
  readonly body: string
  readonly timeout_seconds: string
  readonly retry_count: string
}

export interface StoredCall extends CallOptions, RunOnSettings {
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly auth: CallAuth | null
  readonly body: string | null
  readonly timeout_seconds: number
  readonly retry_count: number
}

export const callValuesOf = (call: StoredCall): CallValues => ({
  method: call.method,
  url: call.url,
  headers: Object.entries(call.headers),
  auth: authValuesOf(call.auth),
  body: call.body ?? "",
  timeout_seconds: String(call.timeout_seconds),
  retry_count: String(call.retry_count),
  ...runOnValuesOf(call),
  ...callOptionValuesOf(call)
})

/** Returns the form values for a copy of a call. */
export const copyCall = <Values extends Pick<CallValues, "headers">>(values: Values): Values => ({
  ...values,
  headers: values.headers.map(([name, value]): FormHeader =>
    value === maskedValue ? [name, "", "copied"] : [name, value]
  )
})

export const newCallValues: CallValues = callValuesOf({
  method: "POST",
  url: "",
  headers: {},
  auth: null,
  body: null,
  timeout_seconds: 30,
  retry_count: 3,
  success_codes: null,
  body_contains: null,
  body_lacks: null,
  retry: null,
  completion: null,
  ...defaultRunOn
})

export const callMethods: ReadonlyArray<CallMethod> = [
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "HEAD"
]

export const canHaveBody = (method: CallMethod) => method !== "GET" && method !== "HEAD"

export const callInputOf = (values: CallValues) => ({
  method: values.method,
  url: values.url.trim(),
  headers: Object.fromEntries(
    values.headers
      .map(([name, value]) => [name.trim(), value] as const)
      .filter(([name]) => name !== "")
  ),
  auth: authInputOf(values.auth),
  body: values.body === "" || !canHaveBody(values.method) ? null : values.body,
  timeout_seconds: Number(values.timeout_seconds),
  retry_count: Number(values.retry_count),
  ...runOnInputOf(values),
  ...callOptionInputOf(values, Number(values.retry_count))
})
