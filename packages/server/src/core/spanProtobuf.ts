import type { Span } from "./Tracing.ts"

/** The numbers of OTLP. */
export const spanKinds = { internal: 1, server: 2, client: 3 } as const

export const spanStatuses = { ok: 1, error: 2 } as const

/**
 * Encodes spans as an `ExportTraceServiceRequest` of opentelemetry-proto 1. The framework's general
 * encoder takes 25 to 30 µs per span, an eighth of a processor at 5,000 spans per second.
 */
export const encodeSpans = (
  resource: Readonly<Record<string, string>>,
  scope: string,
  spans: ReadonlyArray<Span>
): Uint8Array => {
  const to = new Writer()
  const resourceSpans = to.open(1)
  const ofResource = to.open(1)
  for (const [key, value] of Object.entries(resource)) attribute(to, 1, key, value)
  to.close(ofResource)
  const scopeSpans = to.open(2)
  const ofScope = to.open(1)
  to.text(1, scope)
  to.close(ofScope)
  for (const span of spans) encodeSpan(to, span)
  to.close(scopeSpans)
  to.close(resourceSpans)
  return to.bytes
}

const encodeSpan = (to: Writer, span: Span): void => {
  const whole = to.open(2)
  to.hex(1, span.traceId)
  to.hex(2, span.spanId)
  if (span.parentSpanId !== undefined) to.hex(4, span.parentSpanId)
  to.text(5, span.name)
  to.integer(6, spanKinds[span.kind])
  to.nanos(7, span.startMs)
  to.nanos(8, Math.max(span.startMs, span.endMs))
  for (const key in span.attributes) attribute(to, 9, key, span.attributes[key] ?? "")
  const status = to.open(15)
  if (span.error !== undefined) to.text(2, span.error)
  to.integer(3, span.error === undefined ? spanStatuses.ok : spanStatuses.error)
  to.close(status)
  to.close(whole)
}

const attribute = (to: Writer, field: number, key: string, value: string | number): void => {
  const pair = to.open(field)
  to.text(1, key)
  const any = to.open(2)
  if (typeof value === "string") to.text(1, value)
  else if (Number.isSafeInteger(value) && value >= 0) to.integer(3, value)
  else to.double(4, value)
  to.close(any)
  to.close(pair)
}

const wire = { varint: 0, fixed64: 1, bytes: 2 } as const

/** A length of up to 256 MB, written with leading zeros so that it can be filled in afterwards. */
const lengthBytes = 4

class Writer {
  #buffer = Buffer.allocUnsafe(256 * 1024)
  #at = 0

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#at)
  }

  /** Begins a nested message and returns what `close` needs. */
  open(field: number): number {
    this.#reserve(16)
    this.#varint((field << 3) | wire.bytes)
    this.#at += lengthBytes
    return this.#at
  }

  close(begin: number): void {
    let length = this.#at - begin
    for (let index = lengthBytes; index > 0; index--) {
      this.#buffer[begin - index] = (length & 0x7f) | (index > 1 ? 0x80 : 0)
      length >>>= 7
    }
  }

  text(field: number, text: string): void {
    const length = Buffer.byteLength(text)
    this.#reserve(length + 16)
    this.#varint((field << 3) | wire.bytes)
    this.#varint(length)
    this.#at += this.#buffer.write(text, this.#at)
  }

  hex(field: number, digits: string): void {
    this.#reserve(digits.length + 16)
    this.#varint((field << 3) | wire.bytes)
    this.#varint(digits.length / 2)
    this.#at += this.#buffer.write(digits, this.#at, "hex")
  }

  integer(field: number, value: number): void {
    this.#reserve(32)
    this.#varint((field << 3) | wire.varint)
    this.#varint(value)
  }

  double(field: number, value: number): void {
    this.#reserve(16)
    this.#varint((field << 3) | wire.fixed64)
    this.#at = this.#buffer.writeDoubleLE(value, this.#at)
  }

  nanos(field: number, ms: number): void {
    this.#reserve(16)
    this.#varint((field << 3) | wire.fixed64)
    this.#at = this.#buffer.writeBigUInt64LE(BigInt(Math.round(ms * 1_000)) * 1_000n, this.#at)
  }

  #varint(value: number): void {
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[this.#at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.#at++] = rest
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(2 * this.#buffer.length + bytes)
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}
