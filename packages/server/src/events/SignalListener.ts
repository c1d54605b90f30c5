import { PgClient, PgConnection } from "@effect/sql-pg"
import { Effect, Layer, Queue, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { Store } from "../store/index.ts"
import { loop } from "../core/index.ts"
import { channel, Signals } from "./Signals.ts"

/**
 * Listens for signals on a dedicated connection, on which the caller can also run statements.
 * `receive` runs until the connection breaks. When the scope closes, the connection is closed
 * before the driver can send UNLISTEN, whose response would never arrive without a network.
 */
export const listenOn = Effect.fnUntraced(function* (
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
  const notifications = yield* Scope.provide(connection.listen(channel), listening)
  yield* signals.connected
  const receive = Queue.take(notifications).pipe(
    Effect.flatMap(({ payload }) => signals.receive(payload)),
    Effect.forever
  )
  return { connection, receive }
})

/** Listens in a process without the runner. In other processes, the runner's session listens. */
export const SignalListenerLayer: Layer.Layer<never, never, PgClient.PgClient | Store | Signals> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { config } = yield* PgClient.PgClient
      const store = yield* Store
      const signals = yield* Signals
      if (store.kind === "embedded") return
      const own = { ...config, applicationName: "scheduling-service listener", stream: undefined }
      const listen = Effect.scoped(Effect.flatMap(listenOn(own, signals), ({ receive }) => receive))
      yield* Effect.forkScoped(loop("listening", listen))
    })
  )
