import { assert, describe, it } from "@effect/vitest"
import { statsRange } from "@scheduling/domain/executions/ExecutionStats"
import { Result } from "effect"

const now = new Date("2026-03-01T12:00:00Z")
const range = (query: Parameters<typeof statsRange>[0]) =>
  Result.match(statsRange(query, now), {
    onFailure: ({ path }) => path.join("."),
    onSuccess: ({ bucket, from, to }) => [from.toISOString(), to.toISOString(), bucket]
  })

describe("the time that statistics are of", () => {
  it("is the last day, by the hour", () => {
    assert.deepStrictEqual(range({}), [
      "2026-02-28T12:00:00.000Z",
      "2026-03-01T12:00:00.000Z",
      "hour"
    ])
  })

  it("is a day up to `to`, and up to now from `from`", () => {
    assert.deepStrictEqual(range({ to: "2026-01-02T00:00:00Z" }), [
      "2026-01-01T00:00:00.000Z",
      "2026-01-02T00:00:00.000Z",
      "hour"
    ])
    assert.deepStrictEqual(range({ from: "2026-02-27T00:00:00Z", bucket: "day" }), [
      "2026-02-27T00:00:00.000Z",
      "2026-03-01T12:00:00.000Z",
      "day"
    ])
  })

  it("begins no earlier than a time can be said", () => {
    assert.deepStrictEqual(range({ to: "0000-01-01T12:00:00Z" }), [
      "0000-01-01T00:00:00.000Z",
      "0000-01-01T12:00:00.000Z",
      "hour"
    ])
    assert.strictEqual(range({ to: "0000-01-01T00:00:00Z" }), "from")
  })

  it("is at most 31 days by the hour and 366 by the day", () => {
    const to = "2026-02-01T00:00:00Z"
    assert.isArray(range({ from: "2026-01-01T00:00:00Z", to }))
    assert.strictEqual(range({ from: "2025-12-31T23:59:59Z", to }), "from")
    assert.isArray(range({ from: "2025-01-31T00:00:00Z", to, bucket: "day" }))
    assert.strictEqual(range({ from: "2025-01-30T23:59:59Z", to, bucket: "day" }), "from")
  })

  it("does not run backwards", () => {
    assert.strictEqual(range({ from: "2026-04-01T00:00:00Z" }), "from")
    assert.strictEqual(range({ from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z" }), "from")
  })
})
