import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import type { AnswerHeaders } from "../exchange/AnswerParser.ts"
import type { OutgoingRequest } from "../OutgoingRequest.ts"

/** What a thread needs to know before its first connection. */
export interface ThreadData {
  /** The networks that it may call although they are private. */
  readonly allow: ReadonlyArray<string>
  /** In PEM, because a thread does not inherit those that the process has set. */
  readonly trusted: ReadonlyArray<string>
}

/** A request whose head is known, and how much of the answer's body is wanted. */
export interface ReadyRequest extends Omit<OutgoingRequest, "head"> {
  readonly head: string
  readonly keptBytes: number
}

/** What the main thread tells. Connections have numbers that are never used twice. */
export type Order =
  | readonly ["open", id: number, origin: string]
  | readonly ["send", id: number, request: ReadyRequest]
  | readonly ["close", id: number]
  | readonly ["resolved", question: number, addresses: ReadonlyArray<string>]
  | readonly ["not resolved", question: number, code: string]

/** What the thread tells. */
export type Report =
  | readonly ["sent", id: number]
  | readonly ["first byte", id: number]
  | readonly ["head", id: number, statusCode: number, headers: AnswerHeaders]
  | readonly ["body", id: number, bytes: Uint8Array]
  | readonly ["end", id: number, reusable: boolean]
  | readonly ["error", id: number, error: ExecutionError]
  | readonly ["idle end", id: number]
  | readonly ["resolve", question: number, hostname: string]
