import { Effect, Fiber } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { onPostgres } from "./TestDatabase.ts"

/**
 * Sends requests while holding a lock that they all need, so that they wait for it in this order.
 * On the embedded store, which has one session, they wait for the open transaction.
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
          if (onPostgres) yield* waitUntilBlocked(fibers.length)
        }
        return fibers
      })
    )
    return yield* Effect.forEach(sent, Fiber.join)
  })

/**
 * Waits until this many requests are waiting for the lock. Runs its queries on the transaction's
 * connection.
 */
export const waitUntilBlocked = Effect.fnUntraced(function* (count: number) {
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
