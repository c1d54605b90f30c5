import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, type Scope } from "effect"
import { Store } from "../platform/Sql.ts"

export interface Listener {
  /** Something is due sooner than the node expects. */
  readonly wake: Effect.Effect<void>
  /** Somebody wants a run to stop. Answers whether it runs here. */
  readonly cancel: (runId: string) => Effect.Effect<boolean>
  /** A queue is to be cleared. */
  readonly stop: Effect.Effect<void>
}

/** Of what other processes say, all but `wake`, `stop` and `cancel`. */
export interface Hearer {
  readonly heard: (payload: string) => void
  readonly connected: () => void
}

/** The channel of PostgreSQL's NOTIFY: `wake`, `stop`, `cancel <run id>`, and what `Endings` says. */
export const channel = "scheduling_runs"

/**
 * Tells the runner that something changed: in this process directly, in others by NOTIFY. It is only
 * about speed: what it says can be read from the tables, and every node looks there in time.
 */
export class Signals extends Context.Service<
  Signals,
  {
    readonly wake: Effect.Effect<void>
    readonly cancel: (runIds: ReadonlyArray<string>) => Effect.Effect<void>
    readonly stop: Effect.Effect<void>
    /** What came by NOTIFY, for the runner of this process or for whoever hears. */
    readonly receive: (payload: string) => Effect.Effect<void>
    /** This process listens from now on. What was said before, it may have missed. */
    readonly connected: Effect.Effect<void>
    readonly listen: (listener: Listener) => Effect.Effect<void, never, Scope.Scope>
    /** Tells other processes, all in one commit. */
    readonly notify: (payloads: ReadonlyArray<string>) => Effect.Effect<void>
    readonly hear: (hearer: Hearer) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@scheduling/server/runner/Signals") {
  static readonly layer: Layer.Layer<Signals, never, PgClient.PgClient | Store> = Layer.effect(
    Signals,
    Effect.gen(function* () {
      const pg = yield* PgClient.PgClient
      const store = yield* Store
      const scope = yield* Effect.scope
      const listeners = new Set<Listener>()
      const hearers = new Set<Hearer>()
      let wakeIsOnItsWay = false

      const notify = (payloads: ReadonlyArray<string>) =>
        store.kind === "embedded"
          ? Effect.void
          : pg`
              SELECT pg_notify(${channel}, payload)
              FROM unnest(${payloads}::text[]) AS payload`.pipe(
              Effect.tapError((error) => Effect.logDebug("NOTIFY failed", error)),
              Effect.ignore
            )

      const wakeHere = Effect.suspend(() =>
        Effect.forEach(listeners, (listener) => listener.wake, { discard: true })
      )
      const stopHere = Effect.suspend(() =>
        Effect.forEach(listeners, (listener) => listener.stop, { discard: true })
      )
      const cancelHere = Effect.fnUntraced(function* (runId: string) {
        let found = false
        for (const listener of listeners) found = (yield* listener.cancel(runId)) || found
        return found
      })

      /** A commit with NOTIFY takes a lock that all databases share: many wakes make one. */
      const wakeOthers = Effect.gen(function* () {
        wakeIsOnItsWay = true
        yield* Effect.sleep(notifyEveryMs)
        wakeIsOnItsWay = false
        yield* notify(["wake"])
      })

      return Signals.of({
        wake: Effect.suspend(() => {
          if (listeners.size > 0) return wakeHere
          return wakeIsOnItsWay ? Effect.void : Effect.asVoid(Effect.forkIn(wakeOthers, scope))
        }),
        cancel: Effect.fnUntraced(function* (runIds) {
          const elsewhere: Array<string> = []
          for (const runId of runIds) {
            if (!(yield* cancelHere(runId))) elsewhere.push(`cancel ${runId}`)
          }
          if (elsewhere.length > 0) yield* notify(elsewhere)
        }),
        stop: Effect.suspend(() => (listeners.size > 0 ? stopHere : notify(["stop"]))),
        receive: (payload) => {
          if (payload === "wake") return wakeHere
          if (payload === "stop") return stopHere
          if (payload.startsWith("cancel ")) return Effect.asVoid(cancelHere(payload.slice(7)))
          return Effect.sync(() => hearers.forEach((hearer) => hearer.heard(payload)))
        },
        connected: Effect.suspend(() => {
          hearers.forEach((hearer) => hearer.connected())
          return wakeHere
        }),
        listen: (listener) => during(listeners, listener),
        notify,
        hear: (hearer) => during(hearers, hearer)
      })
    })
  )
}

const notifyEveryMs = 5

/** A member until the scope closes. */
const during = <A>(set: Set<A>, member: A): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => void set.add(member)),
    () => Effect.sync(() => void set.delete(member))
  )
