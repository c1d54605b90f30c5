import { PgClient, PgConnection } from "@effect/sql-pg"
import { Effect, Layer, Queue, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { Store } from "../platform/Sql.ts"
import { loop } from "./Loop.ts"
import { channel, Signals } from "./Signals.ts"

/**
 * Hears what is notified, on a connection of its own: the effect that it answers goes on until that
 * breaks. Whoever stops listening says so to the server, and would wait for its answer though the
 * network is gone: here the connection is closed before.
 */
export const listenOn = Effect.fnUntraced(function* (
  config: PgConnection.Config,
  signals: Signals["Service"]
): Effect.fn.Return<Effect.Effect<never, SqlError.SqlError>, SqlError.SqlError, Scope.Scope> {
  const listening = yield* Effect.acquireRelease(Scope.make(), Scope.close)
  const connection = yield* PgConnection.make(config)
  const notifications = yield* Scope.provide(connection.listen(channel), listening)
  yield* signals.connected
  return Queue.take(notifications).pipe(
    Effect.flatMap(({ payload }) => signals.receive(payload)),
    Effect.forever
  )
})

/** For a process without the runner, whose session would listen. */
export const ListeningLayer: Layer.Layer<never, never, PgClient.PgClient | Store | Signals> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { config } = yield* PgClient.PgClient
      const store = yield* Store
      const signals = yield* Signals
      if (store.kind === "embedded") return
      const own = { ...config, applicationName: "scheduling-service listener", stream: undefined }
      const listen = Effect.scoped(Effect.flatten(listenOn(own, signals)))
      yield* Effect.forkScoped(loop("listening", listen))
    })
  )
