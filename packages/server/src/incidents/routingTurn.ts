import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Keeps the router from routing a workspace's events until the transaction commits. First waits for
 * the batch that is being routed, because otherwise a message could be created after somebody has
 * acknowledged the incident. Call it before taking any other lock. Groups of workspaces share an
 * advisory lock, so that the number of locks is limited.
 */
export const holdRouting = (sql: SqlClient.SqlClient, workspaceId: string): Effect.Effect<void> =>
  sql`
    SELECT pg_advisory_xact_lock(${lockClass}::integer, ${groupOf(workspaceId)}::integer)`.pipe(
    Effect.asVoid,
    Effect.orDie
  )

/**
 * Waits until no transaction holds up the routing of these workspaces (see `holdRouting`). The
 * router calls this before it reads incidents.
 */
export const awaitRoutingTurn = (
  sql: SqlClient.SqlClient,
  workspaceIds: ReadonlyArray<string>
): Effect.Effect<void> => {
  const groups = [...new Set(workspaceIds.map(groupOf))].toSorted((one, other) => one - other)
  return sql`
    SELECT pg_advisory_xact_lock_shared(${lockClass}::integer, lock_group)
    FROM unnest(${groups}::integer[]) AS lock_group`.pipe(Effect.asVoid, Effect.orDie)
}

/** An arbitrary number that no other advisory lock uses. */
const lockClass = 741_092_503

/**
 * Returns a workspace's group. The end of a UUID v7 is random, so workspaces are spread evenly over
 * the groups.
 */
const groupOf = (workspaceId: string) => Number.parseInt(workspaceId.slice(-2), 16) % 64
