import { assert, describe, it } from "@effect/vitest"
import { encodeSpans } from "../../src/core/spanProtobuf.ts"
import { makeSpanId, makeTraceId, type Span } from "../../src/core/Tracing.ts"
import { decodeOtlp } from "../support/otlpProtobuf.ts"

const span: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  parentSpanId: undefined,
  name: "a",
  kind: "internal",
  startMs: 1_763_819_000_123.456,
  endMs: 1_763_819_000_123.4,
  attributes: {},
  error: undefined
}

const decoded = (spans: ReadonlyArray<Span>) => {
  const bytes = Buffer.from(encodeSpans({ "service.name": "ünï" }, "scheduling", spans))
  // oxlint-disable-next-line typescript/no-explicit-any -- what the assertions say it is
  return (decodeOtlp("traces", bytes) as any).resourceSpans
}

describe("spans as protobuf", () => {
  it("are read as they were", () => {
    const attributes = {
      text: "ünïcödé 🎉".repeat(1_000),
      empty: "",
      zero: 0,
      large: Number.MAX_SAFE_INTEGER,
      negative: -1,
      half: 0.5
    }
    const error = "it failed"
    const child: Span = { ...span, parentSpanId: span.spanId, kind: "client", attributes, error }
    const [{ resource, scopeSpans }] = decoded([span, child])
    assert.deepStrictEqual(resource.attributes, [
      { key: "service.name", value: { stringValue: "ünï" } }
    ])
    assert.deepStrictEqual(scopeSpans[0].scope, { name: "scheduling" })
    const [first, second] = scopeSpans[0].spans
    assert.deepStrictEqual(first, {
      traceId: span.traceId,
      spanId: span.spanId,
      name: "a",
      kind: 1,
      startTimeUnixNano: "1763819000123456000",
      endTimeUnixNano: "1763819000123456000",
      attributes: [],
      status: { code: 1 }
    })
    assert.deepInclude(second, {
      parentSpanId: span.spanId,
      kind: 3,
      status: { message: error, code: 2 }
    })
    assert.deepStrictEqual(second.attributes, [
      { key: "text", value: { stringValue: attributes.text } },
      { key: "empty", value: { stringValue: "" } },
      { key: "zero", value: { intValue: 0 } },
      { key: "large", value: { intValue: Number.MAX_SAFE_INTEGER } },
      { key: "negative", value: { doubleValue: -1 } },
      { key: "half", value: { doubleValue: 0.5 } }
    ])
  })

  it("may be more than fits where they are written first", () => {
    const name = "n".repeat(1_000)
    const many = Array.from({ length: 5_000 }, () => ({ ...span, name }))
    const [{ scopeSpans }] = decoded(many)
    assert.lengthOf(scopeSpans[0].spans, many.length)
    assert.isTrue(scopeSpans[0].spans.every((one: { readonly name: string }) => one.name === name))
  })
})

describe("the ids of spans", () => {
  it("are of their length and never twice", () => {
    const ids = Array.from({ length: 5_000 }, () => [makeSpanId(), makeTraceId()]).flat()
    assert.strictEqual(new Set(ids).size, ids.length)
    assert.isTrue(ids.every((id, index) => id.length === (index % 2 === 0 ? 16 : 32)))
  })
})
