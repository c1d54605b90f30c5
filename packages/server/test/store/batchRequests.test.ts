// @tags idle
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { batchRequests } from "../../src/store/batchRequests.ts"

/** Creates a batched function that doubles numbers, and records its batches. */
const makeDoubling = (maxBatch?: number) =>
  Effect.gen(function* () {
    const batches: Array<ReadonlyArray<number>> = []
    const double = yield* batchRequests(
      (asked: ReadonlyArray<number>) =>
        Effect.sync(() => {
          batches.push([...asked])
          return asked.map((n) => n * 2)
        }),
      maxBatch === undefined ? {} : { maxBatch }
    )
    const doubleAll = (numbers: ReadonlyArray<number>) =>
      Effect.forEach(numbers, double, { concurrency: "unbounded" })
    return { batches, double, doubleAll }
  })

describe("batchRequests", () => {
  it.effect("sends one batch for concurrent requests, and gives each its own result", () =>
    Effect.gen(function* () {
      const { batches, doubleAll } = yield* makeDoubling()
      assert.deepStrictEqual(yield* doubleAll([3, 1, 2]), [6, 2, 4])
      assert.deepStrictEqual(yield* doubleAll([5]), [10])
      assert.deepStrictEqual(batches, [[3, 1, 2], [5]])
    })
  )

  it.effect("sends no more requests in a batch than the limit", () =>
    Effect.gen(function* () {
      const { batches, doubleAll } = yield* makeDoubling(2)
      assert.deepStrictEqual(yield* doubleAll([1, 2, 3, 4, 5]), [2, 4, 6, 8, 10])
      assert.deepStrictEqual(batches, [[1, 2], [3, 4], [5]])
    })
  )

  it.effect("sends a batch as soon as it is full", () =>
    Effect.gen(function* () {
      const { batches, double } = yield* makeDoubling(2)
      const asked = []
      for (const n of [1, 2, 3]) {
        asked.push(yield* Effect.forkChild(double(n), { startImmediately: true }))
      }
      assert.deepStrictEqual(batches, [[1, 2]])
      const answers = yield* Effect.forEach(asked, Fiber.join)
      assert.deepStrictEqual(answers, [2, 4, 6])
      assert.deepStrictEqual(batches, [[1, 2], [3]])
    })
  )

  it.effect("keeps batches `apartMs` apart, except after a silence", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<number>> = []
      const echo = yield* batchRequests(
        (asked: ReadonlyArray<number>) =>
          Effect.sync(() => {
            batches.push([...asked])
            return asked
          }),
        { apartMs: 1_000 }
      )
      assert.strictEqual(yield* echo(1), 1)
      const second = yield* Effect.forkChild(echo(2), { startImmediately: true })
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      assert.deepStrictEqual(batches, [[1]])
      const third = yield* Effect.forkChild(echo(3), { startImmediately: true })
      assert.strictEqual(yield* Fiber.join(second), 2)
      assert.strictEqual(yield* Fiber.join(third), 3)
      assert.deepStrictEqual(batches, [[1], [2, 3]])
    })
  )

  it.effect("completes a later batch while an earlier batch is in progress", () =>
    Effect.gen(function* () {
      const isFirstAnswered = yield* Deferred.make<void>()
      const echo = yield* batchRequests((asked: ReadonlyArray<string>) =>
        asked.includes("slow")
          ? Effect.as(Deferred.await(isFirstAnswered), asked)
          : Effect.succeed(asked)
      )
      const slow = yield* Effect.forkChild(echo("slow"), { startImmediately: true })
      yield* Effect.yieldNow
      assert.strictEqual(yield* echo("fast"), "fast")
      yield* Deferred.succeed(isFirstAnswered, undefined)
      assert.strictEqual(yield* Fiber.join(slow), "slow")
    })
  )

  it.effect("fails all requests of a failed batch, and no later requests", () =>
    Effect.gen(function* () {
      let isBroken = true
      const echo = yield* batchRequests((asked: ReadonlyArray<number>) =>
        isBroken ? Effect.die("the database is away") : Effect.succeed(asked)
      )
      const exits = yield* Effect.forEach([1, 2], (n) => Effect.exit(echo(n)), {
        concurrency: "unbounded"
      })
      for (const exit of exits) {
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      }
      isBroken = false
      assert.strictEqual(yield* echo(3), 3)
    })
  )

  it.effect("completes the other requests when one request is interrupted", () =>
    Effect.gen(function* () {
      const { double } = yield* makeDoubling()
      const gone = yield* Effect.forkChild(double(1), { startImmediately: true })
      const stays = yield* Effect.forkChild(double(2), { startImmediately: true })
      yield* Fiber.interrupt(gone)
      assert.strictEqual(yield* Fiber.join(stays), 4)
    })
  )
})
