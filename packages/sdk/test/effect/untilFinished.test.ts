import { untilFinished } from "@scheduling/sdk/effect"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

describe("waiting in Effect", () => {
  it.effect("repeats the request until the execution has ended", () =>
    Effect.gen(function* () {
      const asked: Array<number> = []
      const waiting = yield* untilFinished((seconds) => {
        asked.push(seconds)
        const finished_at = asked.length === 3 ? "now" : null
        return Effect.delay(Effect.succeed({ finished_at }), seconds * 1_000)
      }).pipe(Effect.forkChild)
      yield* TestClock.adjust("90 seconds")
      assert.deepStrictEqual(yield* Fiber.join(waiting), { finished_at: "now" })
      assert.deepStrictEqual(asked, [30, 30, 30])
    })
  )

  it.effect("fails when the time has passed", () =>
    Effect.gen(function* () {
      const waiting = yield* untilFinished(() => Effect.succeed({ finished_at: null }), {
        timeout: "3 seconds"
      }).pipe(Effect.flip, Effect.forkChild)
      yield* TestClock.adjust("1 minute")
      const error = yield* Fiber.join(waiting)
      assert.strictEqual(error._tag, "WaitTimeout")
      assert.strictEqual(error.message, "The run had not finished within 3s; it continues")
    })
  )
})
