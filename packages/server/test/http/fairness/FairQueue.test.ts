import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import {
  pauseForSameDuration,
  FairQueue,
  yieldToEventLoop
} from "../../../src/http/fairness/FairQueue.ts"
import { times } from "../../support/http.ts"

/** Returns work that records its key. */
const saying = (said: Array<string>, key: string) => Effect.sync(() => void said.push(key))

describe("a fair queue", () => {
  it.live("alternates between its keys, however many items one of them has", () =>
    Effect.gen(function* () {
      const queue = new FairQueue<string>({ atOnce: 1, pause: yieldToEventLoop })
      const said: Array<string> = []
      const keys = ["a", "a", "a", "a", "b", "a", "c", "b"]
      yield* Effect.forEach(keys, (key) => queue.run(key, saying(said, key)), {
        concurrency: "unbounded"
      })
      assert.strictEqual(said.join(""), "aabcabaa")
    })
  )

  it.live("lets the event loop continue between two of them", () =>
    Effect.gen(function* () {
      const queue = new FairQueue<string>({ atOnce: 1, pause: yieldToEventLoop })
      let rounds = 0
      const count = () => {
        rounds++
        round = setImmediate(count)
      }
      let round = setImmediate(count)
      const began: Array<number> = []
      const work = Effect.sync(() => void began.push(rounds))
      yield* Effect.forEach(Array.from({ length: 20 }), () => queue.run("a", work), {
        concurrency: "unbounded"
      })
      clearImmediate(round)
      assert.strictEqual(new Set(began).size, 20)
    })
  )

  it.live("processes no more items concurrently than its limit", () =>
    Effect.gen(function* () {
      const queue = new FairQueue<string>({ atOnce: 2, pause: yieldToEventLoop })
      let running = 0
      let most = 0
      const work = Effect.gen(function* () {
        most = Math.max(most, ++running)
        yield* Effect.yieldNow
        running--
      })
      yield* Effect.forEach(Array.from({ length: 20 }), () => queue.run("a", work), {
        concurrency: "unbounded"
      })
      assert.strictEqual(most, 2)
    })
  )

  it.live("continues after work that failed, was interrupted, or stopped waiting", () =>
    Effect.gen(function* () {
      const queue = new FairQueue<string>({ atOnce: 1, pause: yieldToEventLoop })
      const said: Array<string> = []
      const hanging = yield* Effect.forkChild(queue.run("a", Effect.never))
      yield* Effect.yieldNow
      const failing = yield* Effect.forkChild(queue.run("a", Effect.fail("no")))
      const leaving = yield* Effect.forkChild(queue.run("b", saying(said, "b")))
      const last = yield* Effect.forkChild(queue.run("a", saying(said, "a")))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(leaving)
      yield* Fiber.interrupt(hanging)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(failing)))
      yield* Fiber.join(last)
      assert.deepStrictEqual(said, ["a"])
    })
  )
})

const boundedQueue = () =>
  new FairQueue<string, "refused">({
    atOnce: 1,
    bound: { maxWaiting: 6, refusal: Effect.fail("refused" as const) }
  })

/**
 * Holds the only slot until it is released. The other requests wait in the order of their names.
 */
const queueUp = Effect.fnUntraced(function* (
  queue: ReturnType<typeof boundedQueue>,
  names: ReadonlyArray<string>
) {
  const done: Array<string> = []
  const busy = yield* Deferred.make<void>()
  yield* Effect.forkChild(queue.run("busy", Deferred.await(busy)), { startImmediately: true })
  const fibers = yield* Effect.forEach(names, (name, index) =>
    Effect.forkChild(
      queue.run(
        name,
        Effect.sync(() => void done.push(name + index))
      ),
      { startImmediately: true }
    )
  )
  return { busy, done, fibers }
})

describe("a bounded fair queue", () => {
  it.effect("alternates between its keys", () =>
    Effect.gen(function* () {
      const { busy, done, fibers } = yield* queueUp(boundedQueue(), ["a", "a", "a", "b", "c"])
      yield* Deferred.succeed(busy, undefined)
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(done, ["a0", "b3", "c4", "a1", "a2"])
    })
  )

  it.effect("makes room for newcomers, at the cost of the key that holds most", () =>
    Effect.gen(function* () {
      const names = ["a", "a", "a", "a", "a", "a", "b", "c", "a", "b"]
      const { busy, done, fibers } = yield* queueUp(boundedQueue(), names)
      yield* Deferred.succeed(busy, undefined)
      const exits = yield* Effect.forEach(fibers, Fiber.await)
      // The last two requests of `a` were rejected in favour of `b` and `c`, then another one in
      // favour of `b`'s second request.
      assert.deepStrictEqual(
        names.flatMap((name, index) => (Exit.isFailure(exits[index]!) ? [name + index] : [])),
        ["a3", "a4", "a5", "a8"]
      )
      assert.deepStrictEqual(done, ["a0", "b6", "c7", "a1", "b9", "a2"])
    })
  )

  it.effect("frees the slot of a caller that stops waiting", () =>
    Effect.gen(function* () {
      const queue = boundedQueue()
      const { busy, done, fibers } = yield* queueUp(queue, ["a", "a", "a", "a", "a", "a"])
      yield* Fiber.interruptAll(fibers.slice(1))
      const late = yield* Effect.forEach(times(5, String), (name) =>
        Effect.forkChild(
          queue.run(
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

  it.effect("continues after abandoned work", () =>
    Effect.gen(function* () {
      const queue = boundedQueue()
      const stuck = yield* Effect.forkChild(queue.run("a", Effect.never), {
        startImmediately: true
      })
      const next = yield* Effect.forkChild(queue.run("b", Effect.succeed("made")), {
        startImmediately: true
      })
      yield* Fiber.interrupt(stuck)
      assert.strictEqual(yield* Fiber.join(next), "made")
    })
  )

  it.live("rests for as long as the work took", () =>
    Effect.gen(function* () {
      const queue = new FairQueue<string>({ atOnce: 1, pause: pauseForSameDuration })
      const work = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
      const startedAt = performance.now()
      yield* Effect.all([queue.run("a", work), queue.run("a", work)], { concurrency: 2 })
      assert.isAtLeast(performance.now() - startedAt, 145)
    })
  )
})
