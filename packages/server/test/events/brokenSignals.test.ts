import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { LoopFailures, LoopHealth } from "../../src/core/Loop.ts"
import { LiveChanges, LiveChangesLayer } from "../../src/events/Changes.ts"
import { EndSignals } from "../../src/events/EndSignals.ts"
import { Signals } from "../../src/events/Signals.ts"

/** Creates signals that fail twice, and records the log lines. */
const breaking = () => {
  const sent: Array<string> = []
  const lines: Array<string> = []
  const health = new LoopFailures()
  let calls = 0
  const layer = Layer.mergeAll(
    Layer.mock(Signals, {
      isAlone: false,
      subscribe: () => Effect.void,
      notify: (payloads) =>
        Effect.sync(() => {
          if (++calls <= 2) throw new Error("a bug")
          sent.push(...payloads)
          return true
        })
    }),
    Layer.succeed(LoopHealth, health),
    Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
  )
  return { layer, health, lines, sent }
}

describe("a node whose signals fail", () => {
  it.effect("keeps sending changes after a reported failure", () => {
    const { health, layer, lines, sent } = breaking()
    return Effect.gen(function* () {
      const changes = yield* LiveChanges
      yield* Effect.forkChild(Effect.scoped(changes.follow(randomUUID(), undefined, () => {})), {
        startImmediately: true
      })
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(lines, ["sending changes: failed: a bug; retrying"])
      for (let n = 0; n < 2; n++) {
        yield* Effect.forkChild(
          changes.follow(randomUUID(), undefined, () => {}),
          {
            startImmediately: true
          }
        )
        yield* TestClock.adjust("3 seconds")
      }
      assert.match(sent.at(-1) ?? "", /^following /)
      assert.deepStrictEqual(health.list(Date.now()), [])
    }).pipe(Effect.scoped, Effect.provide(LiveChangesLayer), Effect.provide(layer))
  })

  it.effect("keeps sending end signals after a reported failure", () => {
    const { layer, lines, sent } = breaking()
    return Effect.gen(function* () {
      const { announce } = yield* (yield* EndSignals).watch([randomUUID()])
      for (let n = 0; n < 3; n++) {
        announce()
        yield* TestClock.adjust("3 seconds")
      }
      assert.strictEqual(lines[0], "sending end signals: failed: a bug; retrying")
      assert.match(sent.at(-1) ?? "", /^want /)
    }).pipe(Effect.scoped, Effect.provide(EndSignals.layer), Effect.provide(layer))
  })
})
