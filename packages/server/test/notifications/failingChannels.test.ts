// @tags slow
import { assert, layer } from "@effect/vitest"
import { Clock, DateTime, type Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { Outbox } from "../../src/events/Outbox.ts"
import { StoreClock } from "../../src/store/StoreClock.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import {
  deliveriesTo,
  insertChannels,
  insertWorkspaceOf,
  notifierLayer,
  SecretsLayer
} from "./support/nodes.ts"
import { startHttpReceiver } from "./support/receivers.ts"
import { announcementData, countIn } from "./support/events.ts"

let share = 3_000

/** Creates a workspace in which all events are sent to each of these URLs. */
const setUp = Effect.fnUntraced(function* (urls: ReadonlyArray<string>) {
  const workspace_id = yield* insertWorkspaceOf(++share)
  const channels = urls.map((url) => ({ config: { url } }))
  const ids = yield* insertChannels(workspace_id, channels, { group_seconds: 0 })
  const somethingHappens = Effect.gen(function* () {
    const { announce } = yield* Outbox
    const at = yield* DateTime.nowAsDate
    const subject_id = randomUUID()
    const data = announcementData("incident.opened", subject_id)
    yield* announce({ workspace_id, event: "incident.opened", subject_id, at, data })
  })
  return { somethingHappens, ids }
})

/**
 * The clock is set before the node starts. Otherwise, the node's loops would wake up for every
 * minute since 1970.
 */
const withNotifier = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.andThen(
    TestClock.setTime(Date.UTC(2026, 5, 1, 12)),
    test.pipe(Effect.scoped, Effect.provide(notifierLayer()))
  )

const onTheWall = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())

/**
 * Moves the test's clock in steps. Before each step, work in progress has some real time to finish,
 * and much more after the last step, because a busy machine is no reason to move the clock further.
 */
const within = <E, R>(
  steps: number,
  step: Duration.Input,
  what: string,
  condition: Effect.Effect<boolean, E, R>
) =>
  Effect.gen(function* () {
    for (let taken = 0; taken <= steps; taken++) {
      for (let look = 0; look < (taken < steps ? 50 : 2_000); look++) {
        if (yield* condition) return
        yield* onTheWall(Effect.sleep("10 millis"))
      }
      if (taken < steps) yield* TestClock.adjust(step)
    }
    assert.fail(what)
  })

type Receiver = Effect.Success<ReturnType<typeof startHttpReceiver>>

/** Counts the received events. An event in several messages is counted once. */
const eventsReceivedBy = ({ received }: Receiver): number => {
  const counts = new Map(received.map(({ body }) => [body.id, countIn(body)]))
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

/**
 * Returns whether the channel has delivered this many messages, none of them twice. Counting
 * received messages is not enough: a response that is in flight while the clock moves by a minute
 * arrives too late.
 */
const hasDelivered = (channelId: string, { received }: Receiver, messages: number) =>
  Effect.gen(function* () {
    if (received.length < messages) return false
    assert.lengthOf(received, messages)
    const deliveries = yield* deliveriesTo(channelId)
    return deliveries.filter(({ status }) => status === "delivered").length === messages
  })

const ClockLayer = Layer.succeed(StoreClock, () => DateTime.nowAsDate)

layer(ClockLayer.pipe(Layer.merge(SecretsLayer), Layer.provideMerge(TestDatabaseLayer)), {
  timeout: "120 seconds"
})("Failing channels", (it) => {
  it.effect(
    "do not delay others while one hangs and one responds with 500 for an hour",
    () =>
      Effect.gen(function* () {
        let isFailing = true
        const hanging = yield* startHttpReceiver(() => (isFailing ? { hangs: true } : {}))
        const failing = yield* startHttpReceiver(() => (isFailing ? { status: 500 } : {}))
        const well = yield* startHttpReceiver()
        const { ids, somethingHappens } = yield* setUp([well.url, hanging.url, failing.url])
        const [idOfWell = ""] = ids

        for (let minute = 1; minute <= 60; minute++) {
          yield* somethingHappens
          yield* within(
            5,
            "1 second",
            `a message in minute ${minute}`,
            hasDelivered(idOfWell, well, minute)
          )
          yield* TestClock.adjust("1 minute")
        }
        for (const { received } of [hanging, failing]) {
          assert.isAbove(received.length, 5)
          assert.isBelow(received.length, 60)
        }

        isFailing = false
        const isAllReceived = () =>
          [hanging, failing].every((receiver) => eventsReceivedBy(receiver) === 60)
        yield* within(120, "30 seconds", "the messages of an hour", Effect.sync(isAllReceived))
        assert.lengthOf(well.received, 60)
      }).pipe(withNotifier),
    90_000
  )

  it.effect(
    "do not delay others of their workspace when there are many",
    () =>
      Effect.gen(function* () {
        const provider = yield* startHttpReceiver(() => ({ hangs: true }))
        const well = yield* startHttpReceiver()
        const urls = Array.from({ length: 60 }, (_, index) => `${provider.url}/${index}`)
        const { ids, somethingHappens } = yield* setUp([...urls, well.url])
        const idOfWell = ids.at(-1) ?? ""

        // The service does not know yet which channels hang.
        yield* somethingHappens
        const areTried = Effect.sync(() => provider.received.length >= 60)
        yield* within(12, "5 seconds", "the first attempts", areTried)
        yield* within(6, "5 seconds", "the first message", hasDelivered(idOfWell, well, 1))
        yield* TestClock.adjust("15 seconds")
        for (let minute = 2; minute <= 30; minute++) {
          yield* somethingHappens
          yield* within(
            5,
            "1 second",
            `a message in minute ${minute}`,
            hasDelivered(idOfWell, well, minute)
          )
          yield* TestClock.adjust("1 minute")
        }
      }).pipe(withNotifier),
    90_000
  )
})
