import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Queue, Scope } from "effect"
import { randomUUID } from "node:crypto"
import type { Database } from "../../src/store/Sql.ts"
import { Endings } from "../../src/events/Endings.ts"
import { ListeningLayer } from "../../src/events/Listening.ts"
import { channel, Signals } from "../../src/events/Signals.ts"
import { listenTo, onPostgres, TestDatabaseLayer } from "../support/TestDatabase.ts"
import { eventually } from "../engine/runner/support/tasks.ts"

const NodeLayer: Layer.Layer<Endings, never, Database> = Layer.fresh(
  Layer.merge(Endings.layer, ListeningLayer).pipe(Layer.provide(Signals.layer))
)

const node = Effect.map(Layer.build(NodeLayer), (context) => Context.get(context, Endings))

/** Everything that is notified from now on. */
const overheard = Effect.gen(function* () {
  const payloads: Array<string> = []
  const notifications = yield* listenTo(channel)
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

/** A node that listens, which is known once it has asked what others want. */
const listeningNode = Effect.gen(function* () {
  const heard = yield* overheard
  const endings = yield* node
  yield* heard.until((payloads) => payloads.some((payload) => payload.startsWith("asking ")))
  return endings
})

const ids = (count: number) => Array.from({ length: count }, () => randomUUID())

const rung = Effect.fnUntraced(function* (wait: Effect.Effect<void>) {
  return Option.isSome(yield* Effect.timeoutOption(wait, "10 seconds"))
})

layer(TestDatabaseLayer, { excludeTestServices: true, timeout: "60 seconds" })("endings", (it) => {
  it.effect("are told on their own node at once, and only to who waits for them", () =>
    Effect.gen(function* () {
      const endings = yield* node
      const [a = "", b = ""] = ids(2)
      const first = yield* endings.watch([a])
      const second = yield* endings.watch([a, b])
      const other = yield* endings.watch([b])
      endings.tell([a])
      assert.isTrue(yield* rung(first.bell.wait(60_000)))
      assert.isTrue(yield* rung(second.bell.wait(60_000)))
      endings.tell([b])
      assert.isTrue(yield* rung(other.bell.wait(60_000)))
    })
  )

  describe.runIf(onPostgres)("across nodes", () => {
    it.effect("are told to the node that announced its interest", () =>
      Effect.gen(function* () {
        const here = yield* listeningNode
        const there = yield* listeningNode
        const heard = yield* overheard
        const [a = ""] = ids(1)
        const { announce, bell } = yield* here.watch([a])
        announce()
        yield* heard.until(() => heard.of("want").some((payload) => payload.includes(a)))
        // The other node hears it in its own time: before that it only remembers.
        there.tell([a, ...ids(1_000)])
        assert.isTrue(yield* rung(bell.wait(60_000)))
        assert.isTrue(heard.of("ended").every((payload) => payload.split(" ").length === 3))
      })
    )

    it.effect("that cross with the announcement are told all the same", () =>
      Effect.gen(function* () {
        const here = yield* listeningNode
        const there = yield* listeningNode
        const [a = ""] = ids(1)
        const { announce, bell } = yield* here.watch([a])
        there.tell([a])
        announce()
        assert.isTrue(yield* rung(bell.wait(60_000)))
      })
    )

    it.effect("are told by a node that was not there when they were announced", () =>
      Effect.gen(function* () {
        const here = yield* listeningNode
        const heard = yield* overheard
        const [a = ""] = ids(1)
        const { announce, bell } = yield* here.watch([a])
        announce()
        yield* heard.until(() => heard.of("want").length === 1)
        const late = yield* listeningNode
        yield* heard.until(() => heard.of("want").length >= 2)
        late.tell([a])
        assert.isTrue(yield* rung(bell.wait(60_000)))
      })
    )

    it.effect("are told by a node that stops right after", () =>
      Effect.gen(function* () {
        const here = yield* listeningNode
        const scope = yield* Scope.make()
        const there = yield* Scope.provide(listeningNode, scope)
        const [a = ""] = ids(1)
        const { announce, bell } = yield* here.watch([a])
        there.tell([a])
        announce()
        const heard = yield* overheard
        yield* heard.until(() => heard.payloads.length > 0)
        yield* Scope.close(scope, Exit.void)
        assert.isTrue(yield* rung(bell.wait(60_000)))
      })
    )

    it.effect("cost others a few messages, though a thousand wait", () =>
      Effect.gen(function* () {
        const here = yield* listeningNode
        const there = yield* listeningNode
        const heard = yield* overheard
        const many = ids(1_000)
        const workspace = randomUUID()
        const watches = yield* Effect.forEach(many, (id) => here.watch([id, workspace]))
        for (const { announce } of watches) announce()
        yield* heard.until(
          () => heard.of("want").flatMap((payload) => payload.split(" ").slice(2)).length >= 1_001
        )
        assert.lengthOf(heard.of("want"), 6)
        there.tell(many)
        for (const { bell } of watches) assert.isTrue(yield* rung(bell.wait(60_000)))
        assert.isAtMost(heard.of("ended").length, 12)
      })
    )
  })
})
