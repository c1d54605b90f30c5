import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Timestamp, timestampInput } from "../../src/shared/Timestamp.ts"

const input = timestampInput("When.")
const read = Schema.decodeUnknownEffect(input)

describe("a time that a client gives", () => {
  it.effect.each([
    ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00Z"],
    ["2026-01-31T09:30:00.123456789Z", "2026-01-31T09:30:00.123456789Z"],
    ["2026-01-31T10:30:00+01:00", "2026-01-31T09:30:00Z"],
    ["2026-01-31T09:30:00.123456+00:00", "2026-01-31T09:30:00.123456Z"],
    ["2026-01-31T23:30:00-05:30", "2026-02-01T05:00:00Z"],
    ["0001-01-01T00:00:00-00:00", "0001-01-01T00:00:00Z"]
  ] as const)("%s is kept as %s", ([given, kept]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* read(given), kept)
      assert.isTrue(Schema.is(Timestamp)(kept))
      // A TypeScript client can pass the same string.
      assert.strictEqual(yield* Schema.encodeEffect(input)(given), given)
    })
  )

  it.effect.each([
    "2026-02-30T09:30:00+01:00",
    "2026-01-31T25:30:00+01:00",
    "2026-01-31T09:30:00",
    "2026-01-31T09:30:00 01:00",
    "2026-01-31T09:30:00+0100",
    "2026-01-31T09:30:00+24:00",
    "2026-01-31T09:30:00+01:60",
    "2026-01-31T09:30:00Z+01:00",
    "0000-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    "2026-01-31",
    1_769_851_800
  ])("%s is refused", (given) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(given))
      assert.include(String(error), typeof given === "string" ? "an ISO 8601 time" : "string")
    })
  )
})
