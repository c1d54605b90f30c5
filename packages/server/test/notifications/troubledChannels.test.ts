import { assert, layer } from "@effect/vitest"
import { Clock, DateTime, type Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { Outbox } from "../../src/outbox/Outbox.ts"
import { StoreClock } from "../../src/sql/StoreClock.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { insertChannels, insertWorkspaceOf, notifierLayer, SecretsLayer } from "./support/nodes.ts"
import { httpReceiver } from "./support/receivers.ts"

let share = 3_000

/** A workspace that tells each of these URLs of whatever happens. The effect lets something happen. */
const begin = Effect.fnUntraced(function* (urls: ReadonlyArray<string>) {
  const workspace_id = yield* insertWorkspaceOf(++share)
  const channels = urls.map((url) => ({ config: { url } }))
  yield* insertChannels(workspace_id, channels, { group_seconds: 0 })
  return Effect.gen(function* () {
    const { announce } = yield* Outbox
    const at = yield* DateTime.nowAsDate
    const subject_id = randomUUID()
    yield* announce({ workspace_id, event: "monitor.down", subject_id, at, data: { name: "db" } })
  })
})

/** The clock is set before the node starts, or its loops would wake for every minute since 1970. */
const withNotifier = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.andThen(
    TestClock.setTime(Date.UTC(2026, 5, 1, 12)),
    test.pipe(Effect.scoped, Effect.provide(notifierLayer()))
  )

const onTheWall = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())

/** Moves the clock of the test step by step. What is under way has the time to happen before each. */
const within = (steps: number, step: Duration.Input, what: string, condition: () => boolean) =>
  Effect.gen(function* () {
    for (let taken = 0; taken < steps; taken++) {
      for (let look = 0; look < 50; look++) {
        if (condition()) return
        yield* onTheWall(Effect.sleep("10 millis"))
      }
      yield* TestClock.adjust(step)
    }
    assert.fail(what)
  })

type Receiver = Effect.Success<ReturnType<typeof httpReceiver>>

/** How many events the receiver was told of, each message once. */
const toldTo = ({ received }: Receiver): number => {
  const counts = new Map(received.map(({ body }) => [body.id, Number(body.events_count)]))
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

const ClockLayer = Layer.succeed(StoreClock, () => DateTime.nowAsDate)

layer(ClockLayer.pipe(Layer.merge(SecretsLayer), Layer.provideMerge(TestDatabaseLayer)), {
  timeout: "120 seconds"
})("Channels in trouble", (it) => {
  it.effect(
    "delay no other, when one hangs and one answers 500 for an hour",
    () =>
      Effect.gen(function* () {
        let isInTrouble = true
        const hanging = yield* httpReceiver(() => (isInTrouble ? { hangs: true } : {}))
        const failing = yield* httpReceiver(() => (isInTrouble ? { status: 500 } : {}))
        const well = yield* httpReceiver()
        const somethingHappens = yield* begin([hanging.url, failing.url, well.url])

        for (let minute = 1; minute <= 60; minute++) {
          yield* somethingHappens
          yield* within(
            5,
            "1 second",
            `a message in minute ${minute}`,
            () => well.received.length === minute
          )
          yield* TestClock.adjust("1 minute")
        }
        for (const { received } of [hanging, failing]) {
          assert.isAbove(received.length, 5)
          assert.isBelow(received.length, 60)
        }

        isInTrouble = false
        yield* within(120, "30 seconds", "the messages of an hour", () =>
          [hanging, failing].every((receiver) => toldTo(receiver) === 60)
        )
        assert.lengthOf(well.received, 60)
      }).pipe(withNotifier),
    90_000
  )

  it.effect(
    "delay no other of their workspace, when they are many",
    () =>
      Effect.gen(function* () {
        const provider = yield* httpReceiver(() => ({ hangs: true }))
        const well = yield* httpReceiver()
        const urls = Array.from({ length: 60 }, (_, index) => `${provider.url}/${index}`)
        const somethingHappens = yield* begin([...urls, well.url])

        // Nobody knows yet which of them hang.
        yield* somethingHappens
        yield* within(60, "1 second", "the first attempts", () => provider.received.length >= 60)
        yield* within(30, "1 second", "the first message", () => well.received.length === 1)
        yield* TestClock.adjust("15 seconds")
        for (let minute = 2; minute <= 30; minute++) {
          yield* somethingHappens
          yield* within(
            5,
            "1 second",
            `a message in minute ${minute}`,
            () => well.received.length === minute
          )
          yield* TestClock.adjust("1 minute")
        }
      }).pipe(withNotifier),
    90_000
  )
})
