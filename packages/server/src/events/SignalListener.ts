import { PgClient, PgConnection } from "@effect/sql-pg"
import { Effect, Layer, Queue, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { Store } from "../store/index.ts"
import { loop } from "../core/index.ts"
import { signalChannel, Signals } from "./Signals.ts"

/**
 * Listens for signals on a dedicated connection, on which the caller can also run statements.
 * `receive` runs until the connection breaks. When the scope closes, the connection is closed
 * immediately. The driver would first send UNLISTEN and wait for a response, which never arrives if
 * the network is down.
 */
export const listenForSignals = Effect.fnUntraced(function* (
  config: PgConnection.Config,
  signals: Signals["Service"]
): Effect.fn.Return<
  {
    readonly connection: PgConnection.PgConnection
    readonly receive: Effect.Effect<never, SqlError.SqlError>
  },
  SqlError.SqlError,
  Scope.Scope
> {
  const listening = yield* Effect.acquireRelease(Scope.make(), Scope.close)
  const unpinned = yield* PgConnection.make(config)
  const connection = yield* Scope.provide(unpinned.pin, listening)
  const notifications = yield* Scope.provide(connection.listen(signalChannel), listening)
  yield* signals.connected
  const receive = Queue.take(notifications).pipe(
    Effect.flatMap(({ payload }) => signals.receive(payload)),
    Effect.forever
  )
  return { connection, receive }
})

/**
 * Provides the listener of a process without a runner. In other processes, the session of the
 * runner listens.
 */
export const SignalListenerLayer: Layer.Layer<never, never, PgClient.PgClient | Store | Signals> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { config } = yield* PgClient.PgClient
      const store = yield* Store
      const signals = yield* Signals
      if (store.kind === "embedded") return
      const own = { ...config, applicationName: "scheduling-service listener", stream: undefined }
      const listen = Effect.scoped(
        Effect.flatMap(listenForSignals(own, signals), ({ receive }) => receive)
      )
      yield* Effect.forkScoped(loop("listening", listen))
    })
  )
