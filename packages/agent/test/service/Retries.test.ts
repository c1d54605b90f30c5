import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { makeRetries } from "../../src/service/Retries.ts"
import { describeError } from "../../src/ServiceRejection.ts"

describe("Retries", () => {
  it.effect("logs a problem immediately, when it changes and every minute", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logs = Logger.layer([Logger.make(({ message }) => void said.push(String(message)))])
      let answer: Effect.Effect<string, Error> = Effect.fail(new Error("refused"))
      let failures = 0
      const { problem, untilAnswered } = makeRetries(Effect.sync(() => failures++))
      const trying = yield* Effect.forkChild(
        Effect.provide(
          untilAnswered(
            "asking",
            Effect.suspend(() => answer)
          ),
          logs
        )
      )
      yield* TestClock.adjust("50 seconds")
      assert.deepStrictEqual(said.splice(0), ["asking: refused; retrying"])
      assert.isAbove(failures, 5)
      assert.deepStrictEqual(problem(), { since: "1970-01-01T00:00:00.000Z", reason: "refused" })
      yield* TestClock.adjust("20 seconds")
      const again = "asking: refused since 1970-01-01T00:00:00.000Z; retrying"
      assert.deepStrictEqual(said.splice(0), [again])
      answer = Effect.fail(new Error("no such route"))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(said.splice(0), ["asking: no such route; retrying"])
      answer = Effect.succeed("OK")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Fiber.join(trying), "OK")
      assert.deepStrictEqual(said, ["asking: the service responds again"])
      assert.isNull(problem())
    })
  )

  it("explains an error by its innermost cause", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:4999"), {
      code: "ECONNREFUSED"
    })
    const failed = new TypeError("fetch failed", { cause: refused })
    assert.strictEqual(
      describeError(new Error("Transport error", { cause: failed })),
      "Transport error: connect ECONNREFUSED 127.0.0.1:4999"
    )
    const all = new AggregateError([refused, new Error("another address")])
    assert.include(describeError(new Error("Transport error", { cause: all })), "ECONNREFUSED")
    assert.strictEqual(describeError(new Error("Too many requests")), "Too many requests")
    assert.strictEqual(describeError(undefined), "no response")
  })
})
