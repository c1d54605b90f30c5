import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { recordUptime } from "./Absences.ts"
import { isInPhase, isNotBlocked } from "./RunState.ts"
import { releaseBlocked } from "./transitions/release.ts"
import { isClockTrusted } from "./laneTurns.ts"
import {
  completionDueInMsSql,
  isCompletionOverdue,
  type NodeUptime
} from "./completions/awaitingRuns.ts"
import { isCancelledUnclaimed, isClaimOverdue } from "./runsForWorkers.ts"

/** First key of the advisory locks that nodes hold. The second key is the node's id. */
export const nodeLockKey = 0x5c4ed

/** Advisory lock of the node that checks the other nodes, so that only one does so at a time. */
const nodeCheckLock = 0x5c4ee

/**
 * How long a node may be without its advisory lock before it counts as dead. A node whose session
 * breaks takes the lock again after a third of a second, which is well within this time. If a
 * living node is declared dead, its calls are made twice.
 */
export const maxMsWithoutLock = 1_900

/**
 * SQL for the ids of dead nodes. Their runs are recovered, and results that they still send are
 * discarded.
 */
export const deadNodeIds = "SELECT id FROM nodes WHERE died_at IS NOT NULL"

/** How long the row of a dead node is kept, so that runs leased to it can be recovered. */
const tombstoneHours = 24

/** Duration of the lease of an agent: the longest wait of a claim plus five seconds. */
export const agentLeaseMs = 15_000

/** How long agents have to reconnect after downtime of the service. They retry with a backoff. */
export const agentReconnectMs = 10_000

/**
 * Adds a node. A node without advisory locks (on the embedded store) is the only one that uses the
 * data, and never expires.
 */
export const registerNode = Effect.fnUntraced(function* (
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

/**
 * Declares all earlier nodes dead. It is for the embedded store, which only one process uses at a
 * time. Agents of workers are separate processes and stay alive.
 */
export const declareAllNodesDead = (sql: SqlClient.SqlClient) =>
  sql`
    UPDATE nodes
    SET died_at = now()
    WHERE died_at IS NULL
      AND worker_id IS NULL`

export const unregisterNode = (sql: SqlClient.SqlClient, node: number) =>
  sql`
    DELETE FROM nodes
    WHERE id = ${node}`

export interface RenewalResult {
  /** False if this node was declared dead and other nodes have taken its runs. */
  readonly alive: boolean
  /** Runs of this node for which a cancellation was requested. */
  readonly cancelled: ReadonlyArray<string>
}

/** Renews the lease of a node. Always returns one row. */
export const renewLease = (sql: SqlClient.SqlClient, node: number, leaseMs: number) =>
  sql<RenewalResult>`
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

/**
 * Declares dead every node whose lease has expired or that has held no lock for longer than
 * `maxMsWithoutLock`. Only one node at a time does this. Agents hold no lock. After downtime of the
 * service, agents and the deadlines of agents and jobs are checked only once all agents and jobs
 * have had time to reconnect. The same statement records that the service is up, and releases
 * blocked runs whose previous run has finished. (A run that becomes blocked while the previous run
 * is finishing misses its release.) Returns whether dead nodes hold runs, whether parked runs
 * exist, whether a workspace is stopped, whether runs have waited too long for a worker, whether a
 * completion is overdue, and when the next completion is due.
 */
export const checkNodes = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  uptime: NodeUptime = { forMs: 0, isLong: false }
) {
  const agentsToo = uptime.isLong
  const [row] = yield* sql<NodeCheckResult>`
    WITH judge AS MATERIALIZED (
      SELECT ${isClockTrusted(sql, uptime)} AND pg_try_advisory_xact_lock(${nodeCheckLock}) AS yes
    ), present AS MATERIALIZED (
      SELECT objid::integer AS id
      FROM pg_locks
      WHERE locktype = 'advisory'
        AND classid = ${nodeLockKey}
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
          WHEN suspected_at < now() - ${maxMsWithoutLock} * interval '1 millisecond' THEN now()
        END
      WHERE (SELECT yes FROM judge)
        AND died_at IS NULL
        AND CASE
          WHEN worker_id IS NOT NULL THEN ${agentsToo} AND lease_until < now()
          WHEN holds_lock THEN
            lease_until < now() OR suspected_at IS NOT NULL OR id NOT IN (SELECT id FROM present)
        END
    ), released AS (
      ${releaseBlocked(sql, {
        tasks: tasksWithBlockedRuns(sql, sql`(SELECT yes FROM judge)`),
        unless: sql`EXISTS (
          SELECT
          FROM runs AS other
          WHERE other.task_id = runs.task_id
            AND ${sql.literal(isNotBlocked("other"))}
            AND other.phase <> 'parked'
        )`
      })}
    ), ${recordUptime(sql, sql`(SELECT yes FROM judge)`)}
    SELECT
      date_part('epoch', now()) * 1000 AS now_ms,
      EXISTS (SELECT FROM released) AS released,
      EXISTS (SELECT FROM runs WHERE ${sql.literal(isInPhase("parked"))}) AS parked,
      EXISTS (SELECT FROM stopped_workspaces) AS some_stopped,
      (SELECT yes FROM judge) AND EXISTS (
        SELECT
        FROM runs
        WHERE lease_owner IN (${sql.literal(deadNodeIds)})
      ) AS to_take_back,
      (${agentsToo} AND EXISTS (SELECT FROM runs WHERE ${sql.literal(isClaimOverdue)}))
        OR EXISTS (SELECT FROM runs WHERE ${sql.literal(isCancelledUnclaimed)}) AS unclaimed,
      EXISTS (
        SELECT
        FROM runs
        WHERE ${isCompletionOverdue(sql, uptime)}
      ) AS overdue,
      ${sql.literal(completionDueInMsSql)} AS completion_due_in_ms`
  return row ?? (yield* Effect.die(new Error("SELECT returned no row")))
})

/** A query for the tasks with blocked runs, which skips from task to task. Empty unless `asked`. */
const tasksWithBlockedRuns = (sql: SqlClient.SqlClient, asked: Statement.Fragment) => {
  const isBlocked = sql.literal(isInPhase("blocked"))
  return sql`
    WITH RECURSIVE waiting AS (
      (
        SELECT task_id
        FROM runs
        WHERE ${isBlocked}
          AND ${asked}
        ORDER BY task_id
        LIMIT 1
      )
      UNION ALL
      SELECT next.task_id
      FROM waiting
      CROSS JOIN LATERAL (
        SELECT task_id
        FROM runs
        WHERE ${isBlocked}
          AND task_id > waiting.task_id
        ORDER BY task_id
        LIMIT 1
      ) AS next
    )
    SELECT task_id
    FROM waiting`
}

interface NodeCheckResult {
  readonly now_ms: number
  readonly to_take_back: boolean
  readonly released: boolean
  readonly parked: boolean
  readonly some_stopped: boolean
  readonly unclaimed: boolean
  readonly overdue: boolean
  /** Null if no run awaits its completion. */
  readonly completion_due_in_ms: number | null
}

export const removeDeadNodes = (sql: SqlClient.SqlClient) =>
  sql`
    DELETE FROM nodes
    WHERE died_at < now() - ${tombstoneHours} * interval '1 hour'
      AND NOT EXISTS (
        SELECT
        FROM runs
        WHERE runs.lease_owner = nodes.id
      )`
