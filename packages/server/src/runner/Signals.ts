import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, type Scope } from "effect"
import { Store } from "../platform/Sql.ts"

export interface Listener {
  /** Something is due sooner than the node expects. */
  readonly wake: Effect.Effect<void>
  /** Somebody wants a run to stop. Answers whether it runs here. */
  readonly cancel: (runId: string) => Effect.Effect<boolean>
}

/** The channel of PostgreSQL's NOTIFY: `wake` or `cancel <run id>`. */
export const channel = "scheduling_runs"

/**
 * Tells the runner that something changed: in this process directly, in others by NOTIFY. It is only
 * about speed: what it says can be read from the tables, and every node looks there in time.
 */
export class Signals extends Context.Service<
  Signals,
  {
    readonly wake: Effect.Effect<void>
    readonly cancel: (runId: string) => Effect.Effect<void>
    /** What came by NOTIFY, for the runner of this process. */
    readonly receive: (payload: string) => Effect.Effect<void>
    readonly listen: (listener: Listener) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@scheduling/server/runner/Signals") {
  static readonly layer: Layer.Layer<Signals, never, PgClient.PgClient | Store> = Layer.effect(
    Signals,
    Effect.gen(function* () {
      const pg = yield* PgClient.PgClient
      const store = yield* Store
      const scope = yield* Effect.scope
      const listeners = new Set<Listener>()
      let wakeIsOnItsWay = false

      const notify = (payload: string) =>
        store.kind === "embedded"
          ? Effect.void
          : pg.notify(channel, payload).pipe(
              Effect.tapError((error) => Effect.logDebug("NOTIFY failed", error)),
              Effect.ignore
            )

      const wakeHere = Effect.suspend(() =>
        Effect.forEach(listeners, (listener) => listener.wake, { discard: true })
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
        yield* notify("wake")
      })

      return Signals.of({
        wake: Effect.suspend(() => {
          if (listeners.size > 0) return wakeHere
          return wakeIsOnItsWay ? Effect.void : Effect.asVoid(Effect.forkIn(wakeOthers, scope))
        }),
        cancel: Effect.fnUntraced(function* (runId) {
          if (!(yield* cancelHere(runId))) yield* notify(`cancel ${runId}`)
        }),
        receive: (payload) =>
          payload.startsWith("cancel ") ? Effect.asVoid(cancelHere(payload.slice(7))) : wakeHere,
        listen: (listener) =>
          Effect.acquireRelease(
            Effect.sync(() => listeners.add(listener)),
            () => Effect.sync(() => listeners.delete(listener))
          )
      })
    })
  )
}

const notifyEveryMs = 5
