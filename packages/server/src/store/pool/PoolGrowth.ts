import { Clock, Effect, Option } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { loop } from "../../core/index.ts"
import type { PoolUse } from "./PoolUse.ts"

/** How often a node looks whether transactions wait. */
const lookMs = 500

/** Once nobody has had to wait for this long, the pool shrinks to its first size. */
const calmMs = 60_000

interface Sizes {
  readonly now: number
  readonly least: number
  readonly most: number
}

/** How many of the connections that the server allows are in use, by whomever. */
interface Connections {
  readonly used: number
  readonly allowed: number
}

/**
 * The size for a pool whose transactions wait. Nodes see the connections of all, and leave a quarter
 * of what is allowed to others. They grow in small steps, because others may grow at the same
 * moment.
 */
export const sizeWhileShort = (
  { least, most, now }: Sizes,
  { allowed, used }: Connections
): number => {
  const spare = Math.floor(allowed * 0.75) - used
  if (spare > 0) return Math.min(now + Math.min(spare, 2), most)
  return used > allowed * 0.9 ? Math.max(now - 2, least) : now
}

/**
 * Lets a pool have up to `most` connections while its transactions wait.
 *
 * Effect's pool may leave a statement waiting for a connection that it could open, because it counts
 * a transaction that takes a connection for itself too late. The next statement makes it open one.
 * So there is a statement with each look while transactions are under way, and a look that waits in
 * vain is given up, as the next one is the next statement.
 */
export const growWhileShort = (
  sql: SqlClient.SqlClient,
  use: PoolUse,
  most: number
): Effect.Effect<never> => {
  const least = use.size
  let shortAtMs = -Infinity
  const look = Effect.gen(function* () {
    yield* Effect.sleep(lookMs)
    const nowMs = yield* Clock.currentTimeMillis
    const isShort = use.waiting > 0
    if (isShort) shortAtMs = nowMs
    if (use.transactions > 0) {
      const connections = yield* Effect.timeoutOption(connectionsOf(sql), lookMs)
      if (isShort && Option.isSome(connections)) {
        yield* use.resize(sizeWhileShort({ now: use.size, least, most }, connections.value))
      }
    }
    if (use.size > least && nowMs - shortAtMs >= calmMs) yield* use.resize(least)
  })
  return loop("fitting the pool of connections", look)
}

const connectionsOf = (sql: SqlClient.SqlClient): Effect.Effect<Connections, SqlError.SqlError> =>
  Effect.map(
    sql<Connections>`
      SELECT
        (SELECT sum(numbackends)::int FROM pg_stat_database) AS used,
        current_setting('max_connections')::int AS allowed`,
    ([connections]) => connections ?? { used: 0, allowed: 0 }
  )
