import type { CallMethod } from "@scheduling/sdk"

/** The fields that a pasted text fills in. */
export interface Pasted {
  readonly schedule?: string
  readonly method?: CallMethod
  readonly url?: string
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
  readonly body?: string
  readonly timeout_seconds?: string
}

/** The result of reading a pasted text. */
export interface Reading {
  readonly values: Pasted
  /** The names of the fields that the text fills in. */
  readonly filled: ReadonlyArray<string>
  readonly ignored: ReadonlyArray<string>
}
