import type { SuccessRule } from "@scheduling/domain/calls/CallOptions"
import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import type { Signing } from "./signing.ts"

/** A call and the run that it belongs to. */
export interface CallRequest {
  readonly workspace_id: string
  readonly execution_id: string
  readonly attempt: number
  /** Null for calls that belong to no task. */
  readonly task: { readonly id: string; readonly scheduled_ms: number } | null
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** GET and HEAD requests are sent without the body, because HTTP gives it no meaning. */
  readonly body: string | null
  /** The timeout from connecting to the last byte. It excludes the wait for a free connection. */
  readonly timeout_seconds: number
  /** Which responses count as success. Defaults to any 2xx status. */
  readonly success?: SuccessRule | null
  /** The secrets to sign with. Absent if the call is unsigned or `signature` is set. */
  readonly signing?: Signing | undefined
  /** A signature created by the service, because an agent has no secrets. */
  readonly signature?: SignatureHeaders
  /** Secret values substituted into the request. They are masked in the response. */
  readonly secrets?: ReadonlyArray<string>
  /** How many bytes of the response body to keep. Defaults to 10,000. */
  readonly keep_bytes?: number
  /** The completion URL, to which the job reports that it has finished. */
  readonly complete_url?: string
  /**
   * Returns whether the call may still be made. It is called right before the request is written,
   * because the process may have been frozen since the call began. If absent, the call may always
   * be made.
   */
  readonly maySend?: () => boolean
  /** The trace context of the call. A `traceparent` header set by the user takes precedence. */
  readonly traceparent?: string
}

export interface SignatureHeaders {
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  readonly signature: string
}
