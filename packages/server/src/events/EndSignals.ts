import { Clock, Context, Effect, Layer, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { elapsedMs, loop, stuckRestartOptions, Waker } from "../core/index.ts"
import { Signals } from "./Signals.ts"
import { WatchedIds } from "./WatchedIds.ts"

/**
 * Wakes requests on any node when the run or chain run that they wait for has finished, when their
 * workspace was deleted, or when the membership of their user has ended. Nodes do not announce every finished run,
 * because a commit with NOTIFY takes a lock that all databases of the server share. Instead, a node
 * announces the runs that its requests wait for (`want <node> <ids>`), and the other nodes reply
 * with the runs that have finished (`ended <node> <ids>`). Announcements and replies are batched
 * into few messages. A node that has just connected asks the others to repeat their announcements
 * (`asking <node>`).
 *
 * A request first reads the database and then announces the run. The node that finishes a run
 * remembers its id for a while, and replies when an announcement arrives. A lost signal does no
 * harm, because the request reads the database again when its wait times out.
 */
export class EndSignals extends Context.Service<
  EndSignals,
  {
    /**
     * Sends the ids of finished executions and chain runs, deleted workspaces, and users whose
     * membership ended. The changes must be committed.
     */
    readonly send: (ids: ReadonlyArray<string>) => void
    /** Watches ids until the scope closes. The waker wakes when one of them may have ended. */
    readonly watch: (ids: ReadonlyArray<string>) => Effect.Effect<EndWatch, never, Scope.Scope>
  }
>()("@scheduling/server/events/EndSignals") {
  static readonly layer: Layer.Layer<EndSignals, never, Signals> = Layer.effect(
    EndSignals,
    Effect.gen(function* () {
      const signals = yield* Signals
      const clock = yield* Clock.Clock
      const node = randomUUID().slice(0, 8)
      const watches = new Map<string, Set<Waker>>()
      const watched = new WatchedIds()
      const wants = new Set<string>()
      const ended = new Set<string>()
      let asks = false
      const outbox = new Waker()

      const wake = (id: string) => watches.get(id)?.forEach((waker) => waker.wake())

      const recordWanted = (ids: Iterable<string>) => {
        for (const id of ids) wants.add(id)
        if (wants.size > 0) outbox.wake()
      }
      const answer = (id: string) => {
        ended.add(id)
        outbox.wake()
      }

      yield* signals.subscribe({
        received: (payload) => {
          const [kind, from, ...ids] = payload.split(" ")
          if (from === node) return
          if (kind === "ended") ids.forEach(wake)
          if (kind === "want")
            ids.filter((id) => watched.want(id, elapsedMs(clock))).forEach(answer)
          if (kind === "asking") recordWanted(watches.keys())
        },
        connected: () => {
          asks = true
          for (const id of watches.keys()) wake(id)
          recordWanted(watches.keys())
          outbox.wake()
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

      // A node that shuts down still wakes requests on other nodes.
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(send, "1 second")))
      const turn = outbox
        .wait(60_000)
        .pipe(Effect.andThen(Effect.sleep(gatherMs)), Effect.andThen(send))
      yield* Effect.forkScoped(loop("sending end signals", turn, stuckRestartOptions))

      return EndSignals.of({
        send: (ids) => {
          const now = elapsedMs(clock)
          for (const id of ids) {
            wake(id)
            if (watched.end(id, now)) answer(id)
          }
        },
        watch: (ids) =>
          Effect.acquireRelease(
            Effect.sync(() => {
              const waker = new Waker()
              for (const id of ids) {
                const wakers = watches.get(id)
                if (wakers === undefined) watches.set(id, new Set([waker]))
                else wakers.add(waker)
              }
              return { waker, announce: () => recordWanted(ids) }
            }),
            ({ waker }) =>
              Effect.sync(() => {
                for (const id of ids) {
                  const wakers = watches.get(id)
                  wakers?.delete(waker)
                  if (wakers?.size === 0) watches.delete(id)
                }
              })
          )
      })
    })
  )
}

export interface EndWatch {
  readonly waker: Waker
  /** Asks the other nodes to reply when one of the ids ends. */
  readonly announce: () => void
}

/** How often a node sends its messages, all in one commit. */
const gatherMs = 10

/** Keeps the payload of a NOTIFY below PostgreSQL's limit of 8,000 bytes. */
const idsInPayload = 200

const payloadsOf = (head: string, ids: ReadonlySet<string>): ReadonlyArray<string> => {
  const all = [...ids]
  return Array.from({ length: Math.ceil(all.length / idsInPayload) }, (_, index) =>
    [head, ...all.slice(index * idsInPayload, (index + 1) * idsInPayload)].join(" ")
  )
}
