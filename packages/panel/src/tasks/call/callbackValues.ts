import type { CronTask } from "@scheduling/sdk"

/** Who is told that a run has ended, as it is typed: URLs. Empty: nobody. */
export interface CallbackValues {
  readonly on_failure: string
  readonly on_success: string
}

export type Callbacks = Pick<CronTask, "on_failure" | "on_success">

export const callbackValuesOf = ({ on_failure, on_success }: Callbacks): CallbackValues => ({
  on_failure: on_failure?.url ?? "",
  on_success: on_success?.url ?? ""
})

/** As the API takes it. */
export const callbackInputOf = (values: CallbackValues) => ({
  on_failure: callbackTo(values.on_failure),
  on_success: callbackTo(values.on_success)
})

const callbackTo = (url: string) => (url.trim() === "" ? null : { url: url.trim() })

/** Those that are set. */
export const callbackFacts = ({
  on_failure,
  on_success
}: Callbacks): ReadonlyArray<readonly [name: string, value: string]> => [
  ...(on_failure === undefined ? [] : [["Failures told to", on_failure.url] as const]),
  ...(on_success === undefined ? [] : [["Successes told to", on_success.url] as const])
]
