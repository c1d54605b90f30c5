import type { CronTask } from "@scheduling/sdk"

/** The callback URLs as form values. An empty string means none. */
export interface CallbackValues {
  readonly on_failure: string
  readonly on_success: string
}

export type Callbacks = Pick<CronTask, "on_failure" | "on_success">

export const callbackValuesOf = ({ on_failure, on_success }: Callbacks): CallbackValues => ({
  on_failure: on_failure?.url ?? "",
  on_success: on_success?.url ?? ""
})

export const callbackInputOf = (values: CallbackValues) => ({
  on_failure: callbackTo(values.on_failure),
  on_success: callbackTo(values.on_success)
})

const callbackTo = (url: string) => (url.trim() === "" ? null : { url: url.trim() })
