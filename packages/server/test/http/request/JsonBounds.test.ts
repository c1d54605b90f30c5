import { assert, describe, it } from "@effect/vitest"
import type { JsonSchema } from "effect"
import {
  jsonBoundsOf,
  definitionsBounds,
  exceededJsonBound,
  jsonBounds
} from "../../../src/http/request/JsonBounds.ts"
import {
  type Endpoint,
  endpoints,
  batchItemOf,
  propertiesOf,
  resolveSchema
} from "../../adversarial/support/contract.ts"

interface Size {
  /** The number of object fields and array items, including the arrays and objects themselves. */
  readonly values: number
  /** The number of items in the longest array. */
  readonly items: number
  readonly depth: number
}

const together = (parts: ReadonlyArray<Size>, own: Size): Size => ({
  values: own.values + parts.reduce((sum, { values }) => sum + values, 0),
  items: Math.max(own.items, ...parts.map(({ items }) => items)),
  depth: own.depth + Math.max(0, ...parts.map(({ depth }) => depth))
})

const sizeOf = (json: unknown): Size => {
  if (typeof json !== "object" || json === null) return { values: 0, items: 0, depth: 0 }
  const members = Object.values(json)
  return together(members.map(sizeOf), {
    values: Math.max(1, members.length),
    items: Array.isArray(json) ? members.length : 0,
    depth: 1
  })
}

/** Returns the size of the largest input accepted by a schema in the API reference. */
const largestOf = (schema: JsonSchema.JsonSchema): Size => {
  const nothing = { values: 0, items: 0, depth: 0 }
  const { additionalProperties, anyOf, items, maxItems, maxProperties, properties, type } =
    resolveSchema(schema)
  if (Array.isArray(anyOf)) {
    const sizes = anyOf.map(largestOf)
    return {
      values: Math.max(...sizes.map(({ values }) => values)),
      items: Math.max(...sizes.map((size) => size.items)),
      depth: Math.max(...sizes.map(({ depth }) => depth))
    }
  }
  const is = (kind: string) => type === kind || (Array.isArray(type) && type.includes(kind))
  if (is("array")) {
    if (typeof maxItems !== "number") assert.fail("an array without a bound")
    const item = largestOf(items as JsonSchema.JsonSchema)
    const all = Array.from({ length: maxItems }, () => item)
    return together(all, { values: maxItems, items: maxItems, depth: 1 })
  }
  if (!is("object")) return nothing
  const names = propertiesOf({ properties })
  const fields = names.map((name) =>
    largestOf((properties as Record<string, JsonSchema.JsonSchema>)[name] ?? {})
  )
  if (typeof additionalProperties === "object" && typeof maxProperties !== "number") {
    assert.fail("a record without a bound")
  }
  const others = typeof maxProperties === "number" ? maxProperties : 0
  return together(fields, { values: names.length + others, items: 0, depth: 1 })
}

const batchOfOne = ({ schema }: Pick<Endpoint, "schema">) => ({
  properties: { items: { type: "array", maxItems: 1, items: schema } }
})

const isWithin = ({ depth, items, values }: Size, bounds = jsonBounds) =>
  values <= bounds.values && items <= bounds.items && depth <= bounds.depth

describe("What JSON is too large for a body", () => {
  it.each(endpoints.filter(({ schema }) => schema !== undefined))(
    "is more than the contract asks for at $method $path",
    (endpoint) => {
      const { schema = {} } = endpoint
      const item = batchItemOf(endpoint)
      const largest = largestOf(schema)
      // The size of a batch with one large item, or with the maximum number of items.
      const { values } =
        item === undefined ? largest : largestOf({ ...schema, ...batchOfOne(item) })
      assert.isAbove(values, 0)
      const bounds = jsonBoundsOf(endpoint.path)
      // A document can contain a thousand records, but not a thousand records of the maximum size.
      const size = { ...largest, values: bounds === definitionsBounds ? 0 : values }
      assert.isTrue(isWithin(size, bounds), JSON.stringify(size))
    }
  )

  const around = (bound: number) => [bound - 1, bound, bound + 1]
  const arrayOf = (length: number, item: unknown) => Array.from({ length }, () => item)
  it.each([
    ["items", around(jsonBounds.items).map((count) => arrayOf(count, {}))],
    [
      "fields",
      around(jsonBounds.values).map((count) =>
        Object.fromEntries(arrayOf(count, '"\\,[{').map((text, at) => [`,[{"\\${at}`, text]))
      )
    ],
    [
      "values in arrays",
      around(jsonBounds.values / 50).map((count) =>
        Object.fromEntries(arrayOf(count, arrayOf(49, "\\")).map((items, at) => [at, items]))
      )
    ],
    [
      "levels",
      around(jsonBounds.depth).map((count) => JSON.parse("[".repeat(count) + "]".repeat(count)))
    ],
    ["nothing", [[], {}, "", 0, null, [[]], [{}, {}]]]
  ])("is what has too many of these, however it is written: %s", (_, values) => {
    for (const value of values) {
      for (const space of [undefined, "\t"]) {
        const text = JSON.stringify(value, null, space)
        assert.strictEqual(exceededJsonBound(text) === undefined, isWithin(sizeOf(value)), text)
      }
    }
  })

  it("does not apply to invalid JSON, which the parser rejects", () => {
    for (const text of ["", "]", "[1]]" + "[".repeat(100), '"', '"\\', '{"a', "}{".repeat(5_000)]) {
      assert.isUndefined(exceededJsonBound(text), text)
    }
  })
})
