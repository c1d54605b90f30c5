/**
 * Decodes OTLP protobuf into the structure of OTLP JSON, using the field numbers from
 * opentelemetry-proto 1. This code is independent of the exporter, so that it reveals the
 * exporter's mistakes.
 */
type Kind = "text" | "hex" | "varint" | "boolean" | "fixed64" | "double" | Message
type Field = readonly [name: string, kind: Kind, isRepeated?: "repeated"]
/** The fields by number. This is a function, because a message type can contain itself. */
type Message = () => Readonly<Record<number, Field>>

const anyValue: Message = () => ({
  1: ["stringValue", "text"],
  2: ["boolValue", "boolean"],
  3: ["intValue", "varint"],
  4: ["doubleValue", "double"],
  5: ["arrayValue", () => ({ 1: ["values", anyValue, "repeated"] })],
  6: ["kvlistValue", () => ({ 1: ["values", keyValue, "repeated"] })],
  7: ["bytesValue", "hex"]
})
const keyValue: Message = () => ({ 1: ["key", "text"], 2: ["value", anyValue] })
const resource: Message = () => ({
  1: ["attributes", keyValue, "repeated"],
  2: ["droppedAttributesCount", "varint"]
})
const scope: Message = () => ({ 1: ["name", "text"], 2: ["version", "text"] })

const span: Message = () => ({
  1: ["traceId", "hex"],
  2: ["spanId", "hex"],
  4: ["parentSpanId", "hex"],
  5: ["name", "text"],
  6: ["kind", "varint"],
  7: ["startTimeUnixNano", "fixed64"],
  8: ["endTimeUnixNano", "fixed64"],
  9: ["attributes", keyValue, "repeated"],
  10: ["droppedAttributesCount", "varint"],
  12: ["droppedEventsCount", "varint"],
  14: ["droppedLinksCount", "varint"],
  15: ["status", () => ({ 2: ["message", "text"], 3: ["code", "varint"] })]
})

const logRecord: Message = () => ({
  1: ["timeUnixNano", "fixed64"],
  2: ["severityNumber", "varint"],
  3: ["severityText", "text"],
  5: ["body", anyValue],
  6: ["attributes", keyValue, "repeated"],
  7: ["droppedAttributesCount", "varint"],
  9: ["traceId", "hex"],
  10: ["spanId", "hex"],
  11: ["observedTimeUnixNano", "fixed64"]
})

const numberPoint: Message = () => ({
  2: ["startTimeUnixNano", "fixed64"],
  3: ["timeUnixNano", "fixed64"],
  4: ["asDouble", "double"],
  6: ["asInt", "fixed64"],
  7: ["attributes", keyValue, "repeated"]
})
const histogramPoint: Message = () => ({
  2: ["startTimeUnixNano", "fixed64"],
  3: ["timeUnixNano", "fixed64"],
  4: ["count", "fixed64"],
  5: ["sum", "double"],
  6: ["bucketCounts", "fixed64", "repeated"],
  7: ["explicitBounds", "double", "repeated"],
  9: ["attributes", keyValue, "repeated"],
  11: ["min", "double"],
  12: ["max", "double"]
})
const metric: Message = () => ({
  1: ["name", "text"],
  2: ["description", "text"],
  3: ["unit", "text"],
  5: ["gauge", () => ({ 1: ["dataPoints", numberPoint, "repeated"] })],
  7: [
    "sum",
    () => ({
      1: ["dataPoints", numberPoint, "repeated"],
      2: ["aggregationTemporality", "varint"],
      3: ["isMonotonic", "boolean"]
    })
  ],
  9: [
    "histogram",
    () => ({
      1: ["dataPoints", histogramPoint, "repeated"],
      2: ["aggregationTemporality", "varint"]
    })
  ]
})

/** A signal has resources, a resource has scopes, and a scope has items. */
const signal = (name: string, items: string, item: Message): Message => {
  const scoped: Message = () => ({ 1: ["scope", scope], 2: [items, item, "repeated"] })
  const ofResource: Message = () => ({
    1: ["resource", resource],
    2: [`scope${name}`, scoped, "repeated"]
  })
  return () => ({ 1: [`resource${name}`, ofResource, "repeated"] })
}

const signals = {
  traces: signal("Spans", "spans", span),
  metrics: signal("Metrics", "metrics", metric),
  logs: signal("Logs", "logRecords", logRecord)
}

export const decodeOtlp = (of: keyof typeof signals, bytes: Buffer): unknown =>
  decode(signals[of], bytes)

const decode = (message: Message, bytes: Buffer): Record<string, unknown> => {
  const fields = message()
  const read: Record<string, unknown> = {}
  for (const [name, , isRepeated] of Object.values(fields)) if (isRepeated) read[name] = []
  let at = 0
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (length: number) => {
    if (at + length > bytes.length) throw new RangeError("a field is longer than its message")
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const field = fields[tag >> 3]
    if (field === undefined) throw new Error(`no field has the number ${tag >> 3}`)
    const [name, kind, isRepeated] = field
    const wireType = tag & 7
    // A list's numbers are either in separate fields or packed into one field.
    const isPacked = isRepeated !== undefined && wireType === 2 && wireTypeOf(kind) === 1
    if (wireType !== wireTypeOf(kind) && !isPacked) {
      throw new Error(`${name} has the wire type ${wireType}`)
    }
    const values = isPacked
      ? Array.from({ length: Number(varint()) / 8 }, () => valueOf(kind, take(8)))
      : [
          wireType === 0
            ? scalarOf(kind, varint())
            : valueOf(kind, take(wireType === 1 ? 8 : Number(varint())))
        ]
    if (isRepeated) (read[name] as Array<unknown>).push(...values)
    else read[name] = values[0]
  }
  return read
}

const wireTypeOf = (kind: Kind): 0 | 1 | 2 => {
  if (kind === "varint" || kind === "boolean") return 0
  return kind === "fixed64" || kind === "double" ? 1 : 2
}

const scalarOf = (kind: Kind, value: bigint) => (kind === "boolean" ? value === 1n : Number(value))

const valueOf = (kind: Kind, bytes: Buffer): unknown => {
  if (typeof kind === "function") return decode(kind, bytes)
  switch (kind) {
    case "text":
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    case "hex":
      return bytes.toString("hex")
    case "fixed64":
      return String(bytes.readBigUInt64LE())
    case "double":
      return bytes.readDoubleLE()
    default:
      throw new Error(`${kind} has no bytes`)
  }
}
