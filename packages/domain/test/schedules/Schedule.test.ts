import { assert, describe, it } from "@effect/vitest"
import { MinuteSchedule, Schedule } from "@scheduling/domain/schedules/Schedule"
import { arbitrarySchedule } from "@scheduling/schedules/testing/ScheduleArbitrary"
import { Effect, Schema } from "effect"

const decode = Schema.decodeUnknownEffect(Schedule)

describe("the schema of a schedule", () => {
  it.effect("keeps what the user wrote but for white space", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* decode("  0\t9  * *\n Mon-fri "), "0 9 * * Mon-fri")
    })
  )

  it.effect("fails with every problem, one a line", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(decode("60 25 * * *"))
      assert.deepStrictEqual(error.message.split("\n"), [
        `is not valid: minute: "60" is outside 0-59`,
        `is not valid: hour: "25" is outside 0-23`
      ])
    })
  )

  it.effect.prop("prints what it has read", [arbitrarySchedule], ([text]) =>
    Effect.gen(function* () {
      const printed = yield* Schema.encodeEffect(Schedule)(Schedule.make(text))
      assert.strictEqual(yield* decode(printed), text)
    })
  )
})

describe("the schema of a schedule without seconds", () => {
  it.effect("rejects a field of seconds", () =>
    Effect.gen(function* () {
      const decode = Schema.decodeUnknownEffect(MinuteSchedule)
      assert.strictEqual(yield* decode("*/5 * * * *"), "*/5 * * * *")
      const error = yield* Effect.flip(decode("*/5  * * * * *"))
      assert.match(error.message, /got 6: seconds and years are not supported$/)
    })
  )
})
