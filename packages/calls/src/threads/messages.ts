import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import type { ConnectTimes } from "../egress/Egress.ts"
import type { ResponseHeaders } from "../exchange/ResponseParser.ts"
import type { OutgoingRequest } from "../OutgoingRequest.ts"

/** The settings of a thread. */
export interface TlsThreadSettings {
  /** The private networks that calls may reach. */
  readonly allow: ReadonlyArray<string>
  /** Certificate authorities in PEM. A thread does not inherit those set for the process. */
  readonly trusted: ReadonlyArray<string>
}

/** A request with its head, and how many bytes of the response body to keep. */
export interface ThreadRequest extends Omit<OutgoingRequest, "head"> {
  readonly head: string
  readonly keptBytes: number
}

/** A message from the main thread. Connection ids are never reused. */
export type MessageToThread =
  | readonly ["open", id: number, origin: string]
  | readonly ["send", id: number, request: ThreadRequest]
  | readonly ["close", id: number]
  | readonly ["resolved", question: number, addresses: ReadonlyArray<string>]
  | readonly ["not resolved", question: number, code: string]

/** A message from the thread. */
export type MessageFromThread =
  | readonly ["sent", id: number, times: ConnectTimes | null]
  | readonly ["first byte", id: number]
  | readonly ["head", id: number, statusCode: number, headers: ResponseHeaders]
  | readonly ["body", id: number, bytes: Uint8Array]
  | readonly ["end", id: number, reusable: boolean]
  | readonly ["error", id: number, error: ExecutionError, times: ConnectTimes | null]
  | readonly ["idle end", id: number]
  | readonly ["resolve", question: number, hostname: string]
