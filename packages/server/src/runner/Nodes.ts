import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** The first half of the advisory locks that nodes hold; the second is the id of the node. */
export const nodeLocks = 0x5c4ed

/** Taken while one node judges the others. */
const judgeLock = 0x5c4ee

/**
 * A session that broke is back within this time, and its lock with it: a node tries again after a
 * third of a second. Calls of a node that is wrongly taken for dead are made twice.
 */
const suspectMs = 1_900

/** How long the row of a dead node is kept, and what is leased in its name is taken back. */
const tombstoneHours = 24

/** A node without session locks (the embedded store) has the data to itself and never expires. */
export const register = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  options: { readonly holdsLock: boolean; readonly leaseMs: number }
) {
  const [row] = yield* sql<{ readonly id: number }>`
    INSERT INTO nodes (holds_lock, lease_until)
    VALUES (
      ${options.holdsLock},
      ${options.holdsLock ? sql`now() + ${options.leaseMs} * interval '1 millisecond'` : sql`'infinity'`}
    )
    RETURNING id`
  return row === undefined ? yield* Effect.die(new Error("INSERT returned no row")) : row.id
})

/** The embedded store has one process at a time: whoever was before is gone. */
export const bury = (sql: SqlClient.SqlClient) =>
  sql`
    UPDATE nodes
    SET died_at = now()
    WHERE died_at IS NULL`

export const unregister = (sql: SqlClient.SqlClient, node: number) =>
  sql`
    DELETE FROM nodes
    WHERE id = ${node}`

export interface Pulse {
  /** False: this node was declared dead, and others run what it had. */
  readonly alive: boolean
  /** Its running runs that somebody wants to stop. */
  readonly cancelled: ReadonlyArray<string>
}

export const renew = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  node: number,
  leaseMs: number
) {
  const [pulse] = yield* sql<Pulse>`
    WITH renewed AS (
      UPDATE nodes
      SET lease_until = now() + ${leaseMs} * interval '1 millisecond'
      WHERE id = ${node}
        AND died_at IS NULL
      RETURNING id
    )
    SELECT
      EXISTS (SELECT FROM renewed) AS alive,
      ARRAY (
        SELECT id::text
        FROM runs
        WHERE lease_owner = ${node}
          AND cancel_requested
      ) AS cancelled`
  return pulse ?? { alive: false, cancelled: [] }
})

/**
 * One node at a time looks after the others: who holds no lock twice in a row, or whose lease ran
 * out, is dead. In the same statement runs that wait for nobody are let go: one that began to wait
 * while the run before it was ending has missed its signal. Answers whether dead nodes hold runs.
 */
export const judge = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [row] = yield* sql<{ readonly to_take_back: boolean; readonly released: boolean }>`
    WITH judge AS MATERIALIZED (
      SELECT pg_try_advisory_xact_lock(${judgeLock}) AS yes
    ), present AS MATERIALIZED (
      SELECT objid::integer AS id
      FROM pg_locks
      WHERE locktype = 'advisory'
        AND classid = ${nodeLocks}
        AND objsubid = 2
        AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ), judged AS (
      UPDATE nodes
      SET
        suspected_at = CASE
          WHEN id NOT IN (SELECT id FROM present) THEN coalesce(suspected_at, now())
        END,
        died_at = CASE
          WHEN lease_until < now() THEN now()
          WHEN id IN (SELECT id FROM present) THEN NULL
          WHEN suspected_at < now() - ${suspectMs} * interval '1 millisecond' THEN now()
        END
      WHERE (SELECT yes FROM judge)
        AND died_at IS NULL
        AND holds_lock
        AND (lease_until < now() OR suspected_at IS NOT NULL OR id NOT IN (SELECT id FROM present))
    ), released AS (
      UPDATE runs
      SET waiting = false, due_at = greatest(due_at, now())
      WHERE (SELECT yes FROM judge)
        AND (workspace_id, id) IN (
          SELECT DISTINCT ON (task_id) workspace_id, id
          FROM runs
          WHERE waiting
          ORDER BY task_id, id
        )
        AND NOT EXISTS (
          SELECT
          FROM runs AS other
          WHERE other.task_id = runs.task_id
            AND other.id <> runs.id
            AND NOT other.waiting
        )
      RETURNING id
    )
    SELECT
      EXISTS (SELECT FROM released) AS released,
      (SELECT yes FROM judge) AND EXISTS (
        SELECT
        FROM runs
        WHERE lease_owner IN (SELECT id FROM nodes WHERE died_at IS NOT NULL)
      ) AS to_take_back`
  return row ?? { to_take_back: false, released: false }
})

export const removeTombstones = (sql: SqlClient.SqlClient) =>
  sql`
    DELETE FROM nodes
    WHERE died_at < now() - ${tombstoneHours} * interval '1 hour'
      AND NOT EXISTS (
        SELECT
        FROM runs
        WHERE runs.lease_owner = nodes.id
      )`
