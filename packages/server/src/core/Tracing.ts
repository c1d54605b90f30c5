import { Context } from "effect"
import { randomFillSync } from "node:crypto"

export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** Undefined for the root span of a trace. */
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: "internal" | "server" | "client"
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number>>
  /** Undefined if the operation succeeded. */
  readonly error: string | undefined
}

export interface TracingLimits {
  /** The fraction of traces to keep, from 0 to 1. */
  readonly ratio: number
  /** The maximum number of spans per second. Further spans are dropped. */
  readonly spansPerSecond: number
}

/**
 * Creates a span only when its operation has finished, so that no open spans are kept in memory.
 * Sampling depends only on the trace id, so all nodes make the same decision.
 */
export class Tracer {
  readonly #push: (span: Span) => void
  readonly #limits: TracingLimits
  #second = 0
  #count = 0
  dropped = 0

  constructor(push: (span: Span) => void, limits: TracingLimits) {
    this.#push = push
    this.#limits = limits
  }

  keeps(traceId: string): boolean {
    return Number.parseInt(traceId.slice(-8), 16) < this.#limits.ratio * 2 ** 32
  }

  span(span: Span): void {
    if (!this.keeps(span.traceId)) return
    const second = Math.floor(span.endMs / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#count = 0
    }
    if (++this.#count > this.#limits.spansPerSecond) this.dropped++
    else this.#push(span)
  }
}

/** The tracer of the node. Undefined if there is no collector. */
export const Tracing = Context.Reference<Tracer | undefined>("@scheduling/server/core/Tracing", {
  defaultValue: () => undefined
})

const random = Buffer.alloc(4_096)
let used = random.length

/** Takes random bytes from a buffer, because generating a few at a time takes ten times as long. */
const randomHex = (bytes: number): string => {
  if (used + bytes > random.length) {
    randomFillSync(random)
    used = 0
  }
  used += bytes
  return random.toString("hex", used - bytes, used)
}

export const makeSpanId = (): string => randomHex(8)

export const makeTraceId = (): string => randomHex(16)

/**
 * Returns the trace id of a run: its UUID, which also has 16 bytes. Every node therefore knows the
 * trace of a run, and its root span, without storing them.
 */
export const traceIdOf = (uuid: string): string => uuid.replaceAll("-", "")

export const spanIdOf = (uuid: string): string => traceIdOf(uuid).slice(16)

/** Returns the header that passes the trace of a call to its target (W3C Trace Context). */
export const traceparentOf = (traceId: string, spanId: string, isKept: boolean): string =>
  `00-${traceId}-${spanId}-0${isKept ? 1 : 0}`

/**
 * Reads the ids of trace and span from a client's `traceparent`. The sampled flag is ignored,
 * because clients must not decide whether a trace is kept.
 */
export const readTraceparent = (
  header: string | undefined
): { readonly traceId: string; readonly spanId: string } | undefined => {
  const [, traceId = "", spanId = ""] =
    /^[0-9a-e][0-9a-f]-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header ?? "") ?? []
  return traceId === "" || /^0+$/.test(traceId) || /^0+$/.test(spanId)
    ? undefined
    : { traceId, spanId }
}
