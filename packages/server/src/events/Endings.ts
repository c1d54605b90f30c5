import { Clock, Context, Effect, Layer, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { Doorbell, elapsedMs, loop, mayBeStuck } from "../core/index.ts"
import { Signals } from "./Signals.ts"
import { Watched } from "./Watched.ts"

/**
 * Notifies requests on any node that a run has finished. A node cannot notify all others of every
 * run, because a commit with NOTIFY takes a lock that all databases of the server share. So a node
 * announces the runs that its requests wait for, `want <node> <ids>`, and gets `ended <node> <ids>`
 * in return. Both are gathered into few messages. A node that has just connected asks the others to
 * repeat: `asking <node>`.
 *
 * A request reads first and announces afterwards. The node that finished the run remembers it for a
 * while and replies when the announcement arrives. A signal only saves time: the request reads once
 * more when its time is up, so a lost signal does no harm.
 */
export class Endings extends Context.Service<
  Endings,
  {
    /**
     * Announces committed endings by id: of executions, chain runs and workspaces, and of users
     * whose membership ended.
     */
    readonly tell: (ids: ReadonlyArray<string>) => void
    /** Watches ids. The signal is given when one of them may have ended. */
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

      // A node that stops still notifies requests on other nodes.
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(send, "1 second")))
      const turn = outbox
        .wait(60_000)
        .pipe(Effect.andThen(Effect.sleep(gatherMs)), Effect.andThen(send))
      yield* Effect.forkScoped(loop("sending endings", turn, mayBeStuck))

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
  /** Asks the other nodes for the endings of these ids. */
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
