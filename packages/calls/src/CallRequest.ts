import type { SuccessRule } from "@scheduling/domain/calls/CallOptions"
import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import type { Signing } from "./signing.ts"

/** A call, and the run that it belongs to. */
export interface CallRequest {
  readonly workspace_id: string
  readonly execution_id: string
  readonly attempt: number
  /** Null for calls that belong to no task. */
  readonly task: { readonly id: string; readonly scheduled_ms: number } | null
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** GET and HEAD are sent without the body, because HTTP gives it no meaning there. */
  readonly body: string | null
  /**
   * The time from connecting to the last byte. Waiting for one of our connections does not count.
   */
  readonly timeout_seconds: number
  /** Says which answers are a success. By default, answers with a 2xx status. */
  readonly success?: SuccessRule | null
  /** The secrets to sign with. Absent if the call is unsigned or `signature` is set. */
  readonly signing?: Signing | undefined
  /** A signature by the service, because an agent has no secrets. */
  readonly signature?: Signature
  /** The secrets that were filled in. They are masked in everything that comes back. */
  readonly secrets?: ReadonlyArray<string>
  /** The number of bytes of the answer's body to keep. 10,000 by default. */
  readonly keep_bytes?: number
  /** The completion URL, to which the job reports when it has finished. */
  readonly complete_url?: string
  /** The trace of the call. A `traceparent` header of the user takes precedence. */
  readonly traceparent?: string
}

export interface Signature {
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  readonly signature: string
}
