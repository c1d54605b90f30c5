import type { Dispatcher } from "undici"

/** The part of an answer's body that is kept and shown. */
const keptBytes = 10_000

/**
 * A longer body is read and dropped up to this size, so that its connection can serve the next
 * call. Beyond it, reading costs more than a new connection, and the socket is destroyed.
 */
const discardedBytes = 64 * 1024

/** What came back from one request. It stays readable when the request is cut off half-way. */
export class Exchange implements Dispatcher.DispatchHandler {
  phase:
    | "waiting for a connection"
    | "connecting"
    | "waiting for the answer"
    | "reading the answer" = "waiting for a connection"
  statusCode: number | null = null
  retryAfter: string | null = null
  error: Error | null = null
  /** Everything that will be kept has arrived. Errors after that change nothing. */
  complete = false
  private receivedBytes = 0
  private readonly kept: Array<Buffer> = []
  private settle: (reusable: boolean) => void = () => {}

  begin(settle: (reusable: boolean) => void): void {
    this.phase = "connecting"
    this.error = null
    this.settle = settle
  }

  /**
   * The kept body as text that PostgreSQL can hold, without a last character that was cut in half.
   */
  get body(): string | null {
    if (this.statusCode === null) return null
    const isCut = this.receivedBytes > keptBytes
    const bytes = Buffer.concat(this.kept)
    return new TextDecoder().decode(bytes, { stream: isCut }).replaceAll("\u0000", "")
  }

  onRequestStart(): void {
    this.phase = "waiting for the answer"
  }

  onResponseStarted(): void {
    this.phase = "reading the answer"
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  ): void {
    if (statusCode < 200) return
    this.statusCode = statusCode
    const retryAfter = headers["retry-after"]
    this.retryAfter = (typeof retryAfter === "object" ? retryAfter[0] : retryAfter) ?? null
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = keptBytes - this.receivedBytes
    this.receivedBytes += chunk.length
    // Copied, because a slice would keep the whole 64 KiB read in memory.
    if (room > 0) this.kept.push(Buffer.from(chunk.subarray(0, room)))
    this.complete = this.receivedBytes >= keptBytes
    if (this.receivedBytes > discardedBytes) this.settle(false)
  }

  onResponseEnd(): void {
    this.complete = true
    this.settle(true)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.error = error
    this.settle(false)
  }
}
