import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { HashTurns, turnsOn } from "../../src/auth/HashTurns.ts"
import { times } from "../support/http.ts"

const turns = () => new HashTurns({ atOnce: 1, rests: false, maxWaiting: 6 })

/** Holds the only slot until it is let go; the rest queues up in the order of the names. */
const queueUp = Effect.fnUntraced(function* (queue: HashTurns, names: ReadonlyArray<string>) {
  const done: Array<string> = []
  const busy = yield* Deferred.make<void>()
  yield* Effect.forkChild(queue.take("busy", Deferred.await(busy)), { startImmediately: true })
  const fibers = yield* Effect.forEach(names, (name, index) =>
    Effect.forkChild(
      queue.take(
        name,
        Effect.sync(() => void done.push(name + index))
      ),
      { startImmediately: true }
    )
  )
  return { busy, done, fibers }
})

describe("password hashes", () => {
  it.effect("are made in turns of the networks that ask", () =>
    Effect.gen(function* () {
      const { busy, done, fibers } = yield* queueUp(turns(), ["a", "a", "a", "b", "c"])
      yield* Deferred.succeed(busy, undefined)
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(done, ["a0", "b3", "c4", "a1", "a2"])
    })
  )

  it.effect("have places for newcomers, at the cost of who holds most", () =>
    Effect.gen(function* () {
      const names = ["a", "a", "a", "a", "a", "a", "b", "c", "a", "b"]
      const { busy, done, fibers } = yield* queueUp(turns(), names)
      yield* Deferred.succeed(busy, undefined)
      const exits = yield* Effect.forEach(fibers, Fiber.await)
      // The last two of `a` made room for `b` and `c`, then one more of `a` for the second of `b`.
      assert.deepStrictEqual(
        names.flatMap((name, index) => (Exit.isFailure(exits[index]!) ? [name + index] : [])),
        ["a3", "a4", "a5", "a8"]
      )
      assert.deepStrictEqual(done, ["a0", "b6", "c7", "a1", "b9", "a2"])
    })
  )

  it.effect("give their place back when nobody waits for them any more", () =>
    Effect.gen(function* () {
      const queue = turns()
      const { busy, done, fibers } = yield* queueUp(queue, ["a", "a", "a", "a", "a", "a"])
      yield* Fiber.interruptAll(fibers.slice(1))
      const late = yield* Effect.forEach(times(5, String), (name) =>
        Effect.forkChild(
          queue.take(
            "a",
            Effect.sync(() => void done.push(name))
          ),
          {
            startImmediately: true
          }
        )
      )
      yield* Deferred.succeed(busy, undefined)
      yield* Fiber.joinAll(late)
      assert.deepStrictEqual(done, ["a0", "0", "1", "2", "3", "4"])
    })
  )

  it.effect("go on after one that was given up", () =>
    Effect.gen(function* () {
      const queue = turns()
      const stuck = yield* Effect.forkChild(queue.take("a", Effect.never), {
        startImmediately: true
      })
      const next = yield* Effect.forkChild(queue.take("b", Effect.succeed("made")), {
        startImmediately: true
      })
      yield* Fiber.interrupt(stuck)
      assert.strictEqual(yield* Fiber.join(next), "made")
    })
  )

  it("take half of the cores, and half of the time of the only one", () => {
    const atOnce = (cores: number) => turnsOn(cores).atOnce
    assert.deepStrictEqual([1, 2, 3, 4, 16].map(atOnce), [1, 1, 1, 2, 8])
    assert.deepStrictEqual(
      [1, 2].map((cores) => turnsOn(cores).rests),
      [true, false]
    )
  })

  it.live("rest on the only core for as long as one took", () =>
    Effect.gen(function* () {
      const queue = new HashTurns({ atOnce: 1, rests: true, maxWaiting: 6 })
      const work = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
      const startedAt = performance.now()
      yield* Effect.all([queue.take("a", work), queue.take("a", work)], { concurrency: 2 })
      assert.isAtLeast(performance.now() - startedAt, 145)
    })
  )
})
