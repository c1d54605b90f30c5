import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Queue, Scope } from "effect"
import { randomUUID } from "node:crypto"
import type { Database } from "../../src/store/Sql.ts"
import { EndSignals } from "../../src/events/EndSignals.ts"
import { SignalListenerLayer } from "../../src/events/SignalListener.ts"
import { signalChannel, Signals } from "../../src/events/Signals.ts"
import { listenTo, onPostgres, TestDatabaseLayer } from "../support/TestDatabase.ts"
import { eventually } from "../engine/runner/support/tasks.ts"

const NodeLayer: Layer.Layer<EndSignals, never, Database> = Layer.fresh(
  Layer.merge(EndSignals.layer, SignalListenerLayer).pipe(Layer.provide(Signals.layer))
)

const node = Effect.map(Layer.build(NodeLayer), (context) => Context.get(context, EndSignals))

/** Records all messages that nodes send from now on. */
const recordMessages = Effect.gen(function* () {
  const payloads: Array<string> = []
  const notifications = yield* listenTo(signalChannel)
  yield* Queue.take(notifications).pipe(
    Effect.tap(({ payload }) => Effect.sync(() => payloads.push(payload))),
    Effect.forever,
    Effect.forkScoped
  )
  return {
    payloads,
    until: (holds: (payloads: ReadonlyArray<string>) => boolean) =>
      eventually(
        Effect.sync(() => payloads),
        holds
      ),
    of: (kind: string) => payloads.filter((payload) => payload.startsWith(`${kind} `))
  }
})

/**
 * Starts a node that listens. It is ready once it has requested that the other nodes repeat their
 * announcements.
 */
const listeningNode = Effect.gen(function* () {
  const messages = yield* recordMessages
  const endSignals = yield* node
  yield* messages.until((payloads) => payloads.some((payload) => payload.startsWith("asking ")))
  return endSignals
})

const ids = (count: number) => Array.from({ length: count }, () => randomUUID())

const rung = Effect.fnUntraced(function* (wait: Effect.Effect<void>) {
  return Option.isSome(yield* Effect.timeoutOption(wait, "10 seconds"))
})

layer(TestDatabaseLayer, { excludeTestServices: true, timeout: "60 seconds" })(
  "end signals",
  (it) => {
    it.effect(
      "wake the requests that wait for the id on the same node at once, and no others",
      () =>
        Effect.gen(function* () {
          const endSignals = yield* node
          const [a = "", b = ""] = ids(2)
          const first = yield* endSignals.watch([a])
          const second = yield* endSignals.watch([a, b])
          const other = yield* endSignals.watch([b])
          endSignals.send([a])
          assert.isTrue(yield* rung(first.waker.wait(60_000)))
          assert.isTrue(yield* rung(second.waker.wait(60_000)))
          endSignals.send([b])
          assert.isTrue(yield* rung(other.waker.wait(60_000)))
        })
    )

    describe.runIf(onPostgres)("across nodes", () => {
      it.effect("reach the node that announced the id", () =>
        Effect.gen(function* () {
          const here = yield* listeningNode
          const there = yield* listeningNode
          const messages = yield* recordMessages
          const [a = ""] = ids(1)
          const { announce, waker } = yield* here.watch([a])
          announce()
          yield* messages.until(() => messages.of("want").some((payload) => payload.includes(a)))
          // Until the announcement arrives, the other node only stores the ids.
          there.send([a, ...ids(1_000)])
          assert.isTrue(yield* rung(waker.wait(60_000)))
          assert.isTrue(messages.of("ended").every((payload) => payload.split(" ").length === 3))
        })
      )

      it.effect("that cross with the announcement arrive all the same", () =>
        Effect.gen(function* () {
          const here = yield* listeningNode
          const there = yield* listeningNode
          const [a = ""] = ids(1)
          const { announce, waker } = yield* here.watch([a])
          there.send([a])
          announce()
          assert.isTrue(yield* rung(waker.wait(60_000)))
        })
      )

      it.effect("are sent by a node that started after the announcement", () =>
        Effect.gen(function* () {
          const here = yield* listeningNode
          const messages = yield* recordMessages
          const [a = ""] = ids(1)
          const { announce, waker } = yield* here.watch([a])
          announce()
          yield* messages.until(() => messages.of("want").length === 1)
          const late = yield* listeningNode
          yield* messages.until(() => messages.of("want").length >= 2)
          late.send([a])
          assert.isTrue(yield* rung(waker.wait(60_000)))
        })
      )

      it.effect("are sent by a node that stops right after the end", () =>
        Effect.gen(function* () {
          const here = yield* listeningNode
          const scope = yield* Scope.make()
          const there = yield* Scope.provide(listeningNode, scope)
          const [a = ""] = ids(1)
          const { announce, waker } = yield* here.watch([a])
          there.send([a])
          announce()
          const messages = yield* recordMessages
          yield* messages.until(() => messages.payloads.length > 0)
          yield* Scope.close(scope, Exit.void)
          assert.isTrue(yield* rung(waker.wait(60_000)))
        })
      )

      it.effect("take only a few messages, even if a thousand requests wait", () =>
        Effect.gen(function* () {
          const here = yield* listeningNode
          const there = yield* listeningNode
          const messages = yield* recordMessages
          const many = ids(1_000)
          const workspace = randomUUID()
          const watches = yield* Effect.forEach(many, (id) => here.watch([id, workspace]))
          for (const { announce } of watches) announce()
          yield* messages.until(
            () =>
              messages.of("want").flatMap((payload) => payload.split(" ").slice(2)).length >= 1_001
          )
          assert.lengthOf(messages.of("want"), 6)
          there.send(many)
          for (const { waker } of watches) assert.isTrue(yield* rung(waker.wait(60_000)))
          assert.isAtMost(messages.of("ended").length, 12)
        })
      )
    })
  }
)
