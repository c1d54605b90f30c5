import { Effect, Fiber } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { onPostgres } from "./TestDatabase.ts"

/**
 * Sends requests while a lock is held that all of them need, so that they always queue up there in
 * this order. The embedded store has one session, so nothing gets past the open transaction anyway.
 */
export const collide = <A, E, R>(
  lock: Effect.Effect<unknown, SqlError.SqlError>,
  requests: ReadonlyArray<Effect.Effect<A, E, R>>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const sent = yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* lock
        const fibers: Array<Fiber.Fiber<A, E>> = []
        for (const request of requests) {
          fibers.push(yield* Effect.forkChild(request))
          if (onPostgres) yield* untilWaiting(fibers.length)
        }
        return fibers
      })
    )
    return yield* Effect.forEach(sent, Fiber.join)
  })

/** Asks on the connection of the transaction, which is the only one that is certainly free. */
export const untilWaiting = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  for (let tries = 0; tries < 200; tries++) {
    const [row] = yield* sql<{ waiting: number }>`
      SELECT count(*)::int AS waiting
      FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
    if (row !== undefined && row.waiting >= count) return
    yield* Effect.promise(() => new Promise((resume) => setTimeout(resume, 10)))
  }
})
