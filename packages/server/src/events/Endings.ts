import { Clock, Context, Effect, Layer, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { Doorbell, elapsedMs, loop, mayBeStuck } from "../core/index.ts"
import { Signals } from "./Signals.ts"
import { Watched } from "./Watched.ts"

/**
 * Tells those who wait for a run, on any node, that it has ended. A node cannot tell all others
 * about each run that it settles, because a commit with NOTIFY takes a lock that all databases of
 * the server share. So a node that waits says for what: `want <node> <ids>`. It gets `ended <node>
 * <ids>` in return. Both are gathered into few messages. A node that has just connected asks what
 * the others want: `asking <node>`.
 *
 * A waiter reads first and then announces what it waits for. The node that ended a run remembers it
 * for a while and tells the waiter when the announcement arrives. Like all signals this only saves
 * time: the waiter reads once more when its time is up, so a lost signal does no harm.
 */
export class Endings extends Context.Service<
  Endings,
  {
    /**
     * These have ended and that is committed: executions, runs of chains, whole workspaces, and for
     * users a membership.
     */
    readonly tell: (ids: ReadonlyArray<string>) => void
    /** Rings when one of these may have ended on this node, or on another node after `announce`. */
    readonly watch: (ids: ReadonlyArray<string>) => Effect.Effect<Watch, never, Scope.Scope>
  }
>()("@scheduling/server/events/Endings") {
  static readonly layer: Layer.Layer<Endings, never, Signals> = Layer.effect(
    Endings,
    Effect.gen(function* () {
      const signals = yield* Signals
      const clock = yield* Clock.Clock
      const node = randomUUID().slice(0, 8)
      const watches = new Map<string, Set<Doorbell>>()
      const watched = new Watched()
      const wants = new Set<string>()
      const ended = new Set<string>()
      let asks = false
      const outbox = new Doorbell()

      const ring = (id: string) => watches.get(id)?.forEach((bell) => bell.ring())

      const want = (ids: Iterable<string>) => {
        for (const id of ids) wants.add(id)
        if (wants.size > 0) outbox.ring()
      }
      const answer = (id: string) => {
        ended.add(id)
        outbox.ring()
      }

      yield* signals.hear({
        heard: (payload) => {
          const [kind, from, ...ids] = payload.split(" ")
          if (from === node) return
          if (kind === "ended") ids.forEach(ring)
          if (kind === "want")
            ids.filter((id) => watched.want(id, elapsedMs(clock))).forEach(answer)
          if (kind === "asking") want(watches.keys())
        },
        connected: () => {
          asks = true
          for (const id of watches.keys()) ring(id)
          want(watches.keys())
          outbox.ring()
        }
      })

      const send = Effect.suspend(() => {
        const payloads = [
          ...(asks ? [`asking ${node}`] : []),
          ...payloadsOf(`ended ${node}`, ended),
          ...payloadsOf(`want ${node}`, wants)
        ]
        asks = false
        ended.clear()
        wants.clear()
        return payloads.length === 0 ? Effect.void : signals.notify(payloads)
      })

      // A node that is stopping still tells those who wait on other nodes.
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(send, "1 second")))
      const turn = outbox
        .wait(60_000)
        .pipe(Effect.andThen(Effect.sleep(gatherMs)), Effect.andThen(send))
      yield* Effect.forkScoped(loop("telling of endings", turn, mayBeStuck))

      return Endings.of({
        tell: (ids) => {
          const now = elapsedMs(clock)
          for (const id of ids) {
            ring(id)
            if (watched.end(id, now)) answer(id)
          }
        },
        watch: (ids) =>
          Effect.acquireRelease(
            Effect.sync(() => {
              const bell = new Doorbell()
              for (const id of ids) {
                const bells = watches.get(id)
                if (bells === undefined) watches.set(id, new Set([bell]))
                else bells.add(bell)
              }
              return { bell, announce: () => want(ids) }
            }),
            ({ bell }) =>
              Effect.sync(() => {
                for (const id of ids) {
                  const bells = watches.get(id)
                  bells?.delete(bell)
                  if (bells?.size === 0) watches.delete(id)
                }
              })
          )
      })
    })
  )
}

export interface Watch {
  readonly bell: Doorbell
  /** Asks the other nodes to tell when these end. */
  readonly announce: () => void
}

/** A node sends its messages at most this often, all in one commit. */
const gatherMs = 10

/** The payload of a NOTIFY is limited to 8,000 bytes. */
const idsInPayload = 200

const payloadsOf = (head: string, ids: ReadonlySet<string>): ReadonlyArray<string> => {
  const all = [...ids]
  return Array.from({ length: Math.ceil(all.length / idsInPayload) }, (_, index) =>
    [head, ...all.slice(index * idsInPayload, (index + 1) * idsInPayload)].join(" ")
  )
}
