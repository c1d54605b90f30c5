import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Keeps the router from routing events of a workspace until the transaction commits, and waits for
 * a batch that is being routed. Otherwise a message could be created after somebody has
 * acknowledged the incident. Call it before any other lock is taken. The advisory locks are shared
 * by workspaces, so that their number has a limit.
 */
export const holdRouting = (sql: SqlClient.SqlClient, workspaceId: string): Effect.Effect<void> =>
  sql`
    SELECT pg_advisory_xact_lock(${lockClass}::integer, ${groupOf(workspaceId)}::integer)`.pipe(
    Effect.asVoid,
    Effect.orDie
  )

/** Waits for `holdRouting` of these workspaces. The router calls it before it reads incidents. */
export const awaitRoutingTurn = (
  sql: SqlClient.SqlClient,
  workspaceIds: ReadonlyArray<string>
): Effect.Effect<void> => {
  const groups = [...new Set(workspaceIds.map(groupOf))].toSorted((one, other) => one - other)
  return sql`
    SELECT pg_advisory_xact_lock_shared(${lockClass}::integer, lock_group)
    FROM unnest(${groups}::integer[]) AS lock_group`.pipe(Effect.asVoid, Effect.orDie)
}

/** An arbitrary number that is used for no other advisory lock. */
const lockClass = 741_092_503

/** The end of a UUID v7 is random. */
const groupOf = (workspaceId: string) => Number.parseInt(workspaceId.slice(-2), 16) % 64
