import type { SuccessRule } from "@scheduling/domain/calls/CallOptions"
import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import type { Signing } from "./signing.ts"

/** A call to make, and the run that it belongs to. */
export interface CallRequest {
  readonly workspace_id: string
  readonly execution_id: string
  readonly attempt: number
  /** The task that the call runs. Null for calls that belong to no task. */
  readonly task: { readonly id: string; readonly scheduled_ms: number } | null
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Not sent with GET and HEAD: HTTP gives a body no meaning there. */
  readonly body: string | null
  /**
   * From connecting to the last byte. Time spent waiting for one of our connections does not count.
   */
  readonly timeout_seconds: number
  /** Which answers are a success. Those with 2xx where nothing is said. */
  readonly success?: SuccessRule | null
  /** Absent if the call is not signed here. */
  readonly signing?: Signing | undefined
  /** Made by the service, for an agent that has no secrets. */
  readonly signature?: Signature
  /** How much of the answer's body is kept. 10,000 bytes where nothing is said. */
  readonly keep_bytes?: number
  /** Where the receiver says that the job is done. */
  readonly complete_url?: string
  /** Tells the receiver which trace the call belongs to. A header of the user goes first. */
  readonly traceparent?: string
}

export interface Signature {
  readonly id: string
  /** Unix seconds. */
  readonly timestamp: number
  readonly signature: string
}
