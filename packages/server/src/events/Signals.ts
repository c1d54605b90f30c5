import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, type Scope } from "effect"
import { LoopHealth, reportFailures } from "../core/index.ts"
import { Store } from "../store/index.ts"

/** Handles the signals for the runner. */
export interface Listener {
  /** Called when a run may be due earlier than this node expects. */
  readonly wake: Effect.Effect<void>
  /** Cancels a run. Returns whether this node holds the run. */
  readonly cancel: (runId: string) => Effect.Effect<boolean>
  /**
   * Called when runs of a paused or deleted task or workspace must be stopped, and when a workspace
   * is resumed.
   */
  readonly stop: Effect.Effect<void>
  /** Called when parked runs of these named queues can be admitted. */
  readonly admit: (queueIds: ReadonlyArray<string>) => Effect.Effect<void>
}

/** Handles messages of other processes that are not for the runner. */
export interface Subscriber {
  readonly received: (payload: string) => void
  readonly connected: () => void
}

/**
 * The channel of PostgreSQL's NOTIFY. Its messages are `wake`, `stop`, `cancel <run id>`, `admit
 * <queue id>` and those of `EndSignals` and `Changes`.
 */
export const signalChannel = "scheduling_runs"

/**
 * Signals changes to the runner: directly in this process, by NOTIFY in others. Signals only reduce
 * latency, because every node also polls the tables.
 */
export class Signals extends Context.Service<
  Signals,
  {
    readonly wake: Effect.Effect<void>
    readonly cancel: (runIds: ReadonlyArray<string>) => Effect.Effect<void>
    readonly stop: Effect.Effect<void>
    readonly admit: (queueIds: ReadonlyArray<string>) => Effect.Effect<void>
    /** Passes a message to the runner of this process or to the subscribers. */
    readonly receive: (payload: string) => Effect.Effect<void>
    /** Called when this process starts to listen. It may have missed earlier messages. */
    readonly connected: Effect.Effect<void>
    readonly listen: (listener: Listener) => Effect.Effect<void, never, Scope.Scope>
    /** Sends the messages to all processes in one commit. Returns whether they were sent. */
    readonly notify: (payloads: ReadonlyArray<string>) => Effect.Effect<boolean>
    /** True on the embedded store, where there is no other process. */
    readonly isAlone: boolean
    readonly subscribe: (subscriber: Subscriber) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@scheduling/server/events/Signals") {
  static readonly layer: Layer.Layer<Signals, never, PgClient.PgClient | Store> = Layer.effect(
    Signals,
    Effect.gen(function* () {
      const pg = yield* PgClient.PgClient
      const store = yield* Store
      const scope = yield* Effect.scope
      const health = yield* LoopHealth
      const listeners = new Set<Listener>()
      const subscribers = new Set<Subscriber>()
      let wakeIsOnItsWay = false
      const toAdmitElsewhere = new Set<string>()

      const notify = (payloads: ReadonlyArray<string>) =>
        store.kind === "embedded"
          ? Effect.succeed(true)
          : pg`
              SELECT pg_notify(${signalChannel}, payload)
              FROM unnest(${payloads}::text[]) AS payload`.pipe(
              (sending) => reportFailures("notifying other nodes", sending),
              Effect.provideService(LoopHealth, health),
              Effect.isSuccess
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

      /**
       * Sends one message for many wake-ups. A commit with NOTIFY takes a lock that all databases
       * of the server share, so messages should be few.
       */
      const wakeOthers = Effect.gen(function* () {
        wakeIsOnItsWay = true
        yield* Effect.sleep(notifyEveryMs)
        wakeIsOnItsWay = false
        yield* notify(["wake"])
      })

      const admitHere = (queueIds: ReadonlyArray<string>) =>
        Effect.suspend(() =>
          Effect.forEach(listeners, (listener) => listener.admit(queueIds), { discard: true })
        )

      const admitOthers = Effect.gen(function* () {
        yield* Effect.sleep(notifyEveryMs)
        const payloads = Array.from(toAdmitElsewhere, (id) => `admit ${id}`)
        toAdmitElsewhere.clear()
        yield* notify(payloads)
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
        stop: Effect.suspend(() =>
          listeners.size > 0 ? stopHere : Effect.asVoid(notify(["stop"]))
        ),
        admit: (queueIds) =>
          Effect.suspend(() => {
            if (listeners.size > 0) return admitHere(queueIds)
            const isOnItsWay = toAdmitElsewhere.size > 0
            for (const id of queueIds) toAdmitElsewhere.add(id)
            return isOnItsWay || toAdmitElsewhere.size === 0
              ? Effect.void
              : Effect.asVoid(Effect.forkIn(admitOthers, scope))
          }),
        receive: (payload) => {
          if (payload === "wake") return wakeHere
          if (payload === "stop") return stopHere
          if (payload.startsWith("admit ")) return admitHere([payload.slice(6)])
          if (payload.startsWith("cancel ")) return Effect.asVoid(cancelHere(payload.slice(7)))
          return Effect.sync(() =>
            subscribers.forEach((subscriber) => subscriber.received(payload))
          )
        },
        connected: Effect.suspend(() => {
          subscribers.forEach((subscriber) => subscriber.connected())
          return wakeHere
        }),
        listen: (listener) => addUntilScopeCloses(listeners, listener),
        notify,
        isAlone: store.kind === "embedded",
        subscribe: (subscriber) => addUntilScopeCloses(subscribers, subscriber)
      })
    })
  )
}

const notifyEveryMs = 5

/** Keeps the member in the set until the scope closes. */
const addUntilScopeCloses = <A>(set: Set<A>, member: A): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => void set.add(member)),
    () => Effect.sync(() => void set.delete(member))
  )
