import type { CallMethod } from "@scheduling/sdk"

/** What a text that was pasted fills in. */
export interface Pasted {
  readonly schedule?: string
  readonly method?: CallMethod
  readonly url?: string
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
  readonly body?: string
  readonly timeout_seconds?: string
}

/** What was understood of a text that was pasted. */
export interface Reading {
  readonly values: Pasted
  /** What it fills in, in words. */
  readonly filled: ReadonlyArray<string>
  readonly ignored: ReadonlyArray<string>
}
