import { maxResponseBodyBytes } from "@scheduling/domain/executions/Execution"
import type { ConnectTimes } from "../egress/Egress.ts"
import type { ExchangeListener } from "./Connection.ts"
import type { ResponseHeaders } from "./ResponseParser.ts"

/**
 * If a body is longer than the stored part, up to this many further bytes are read and dropped, so
 * that its connection can serve the next call. Reading even more would cost more than a new
 * connection, so the socket is destroyed instead.
 */
const discardedBytes = 64 * 1024

/** Shared, because creating a decoder takes longer than decoding a short body. */
const utf8 = new TextDecoder()

/**
 * Collects the response to a request. The collected part remains readable if the request is
 * aborted.
 */
export class Exchange implements ExchangeListener {
  readonly keptBytes: number
  phase:
    | "waiting for a connection"
    | "connecting"
    | "waiting for the response"
    | "reading the response" = "waiting for a connection"
  statusCode: number | null = null
  headers: ResponseHeaders = { retryAfter: null, complete: null, location: null, shown: "" }
  /** Null if the connection was reused. */
  connecting: ConnectTimes | null = null
  /** The time from sending the request to the first byte of the response, in milliseconds. */
  waitMs: number | null = null
  error: Error | null = null
  /** True once the part of the response that is stored has arrived. Later errors are ignored. */
  complete = false
  private receivedBytes = 0
  private readonly kept: Array<Buffer> = []
  private settle: (reusable: boolean) => void = () => {}
  private sentMs = 0

  constructor(keptBytes: number = maxResponseBodyBytes) {
    this.keptBytes = keptBytes
  }

  begin(settle: (reusable: boolean) => void): void {
    this.phase = "connecting"
    this.error = null
    this.settle = settle
  }

  /**
   * Returns the stored part of the body, as text that PostgreSQL accepts. A truncated last
   * character is dropped.
   */
  get body(): string | null {
    if (this.statusCode === null) return null
    const [first, ...more] = this.kept
    if (first === undefined) return ""
    const bytes = more.length === 0 ? first : Buffer.concat(this.kept)
    const isCut = this.receivedBytes > this.keptBytes
    const text = isCut ? new TextDecoder().decode(bytes, { stream: true }) : utf8.decode(bytes)
    return text.replaceAll("\u0000", "")
  }

  onOpening(times: ConnectTimes): void {
    this.connecting = times
  }

  onSent(): void {
    this.phase = "waiting for the response"
    this.sentMs = performance.now()
  }

  onFirstByte(): void {
    if (this.phase !== "reading the response") this.waitMs = performance.now() - this.sentMs
    this.phase = "reading the response"
  }

  onHead(statusCode: number, headers: ResponseHeaders): void {
    this.statusCode = statusCode
    this.headers = headers
  }

  onBody(bytes: Buffer): void {
    const room = this.keptBytes - this.receivedBytes
    this.receivedBytes += bytes.length
    // The bytes are copied, because a slice would keep the whole 64 KiB buffer in memory.
    if (room > 0) this.kept.push(Buffer.from(bytes.subarray(0, room)))
    this.complete = this.receivedBytes >= this.keptBytes
    if (this.receivedBytes > Math.max(discardedBytes, this.keptBytes)) this.settle(false)
  }

  onEnd(reusable: boolean): void {
    this.complete = true
    this.settle(reusable)
  }

  onError(error: Error): void {
    this.error = error
    this.settle(false)
  }
}
