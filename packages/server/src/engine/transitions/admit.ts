import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { LeasedRun } from "../Run.ts"
import { hasBegun, isInPhase } from "../RunState.ts"
import { freeSlotsSql } from "../queues/freeSlotsSql.ts"
import {
  anyParkedRunSql,
  firstDueTimeSql,
  nextParkedRunsSql,
  queueOrderSql
} from "../queues/nextParkedRunsSql.ts"
import { isQueueInStoppedWorkspace } from "../stoppedWorkspace.ts"
import { targetColumnsOf, targetOf } from "./claim.ts"

/**
 * How early a run gets its slot: the time it takes to claim the run and to query the start guard.
 */
export const admitAheadMs = 500

/** Maximum number of runs of a queue that one statement admits. */
const batch = 500

/** SQL for whether runs of a row of `queues` may be admitted. */
const isOpen = `(NOT queues.paused AND NOT ${isQueueInStoppedWorkspace})`

const horizon = `now() + ${admitAheadMs} * interval '1 millisecond'`

/** SQL for how many runs of a row of `queues` may be admitted. */
const freeSlots = `
  CASE
    WHEN queues.max_concurrency IS NULL THEN ${batch}
    ELSE ${freeSlotsSql}
  END`

/**
 * SQL for how many more runs the rate of a row of `queues` allows. If nodes are late, all admitted
 * runs start together, so there must be no more of them than the rate allows in `admitAheadMs`.
 * Null if the queue has no rate.
 */
const turnsLeft = `
  1 + floor(queues.rate_per_second * ${admitAheadMs / 1_000}) - CASE
    WHEN queues.rate_per_second IS NOT NULL THEN (
      SELECT count(*)
      FROM runs
      WHERE runs.slot_queue_id = queues.id
        AND NOT ${hasBegun()}
    )
  END`

/** A queue with a free slot and a run for it, or a deleted queue. */
export interface OpenQueue {
  readonly id: string
  /** False if the queue was deleted. Its runs must leave it. */
  readonly is_there: boolean
  readonly now_ms: number
  /** When the next run of the queue may be admitted. */
  readonly at_ms: number
}

/**
 * Finds the queues that have a free slot and a run for it, now or later. Most keys of flows have no
 * further run, so the existence of a run is checked first.
 */
export const findOpenQueues = (sql: SqlClient.SqlClient, queueIds: ReadonlyArray<string>) => {
  return sql<OpenQueue>`
    SELECT
      asked.id,
      queues.id IS NOT NULL AS is_there,
      date_part('epoch', now()) * 1000 AS now_ms,
      date_part('epoch', greatest(
        first.due_at,
        CASE WHEN queues.rate_per_second IS NOT NULL THEN queues.next_at END
      )) * 1000 - ${admitAheadMs} AS at_ms
    FROM (
      SELECT given.id
      FROM unnest(${queueIds}::uuid[]) AS given (id)
      CROSS JOIN LATERAL (${sql.literal(anyParkedRunSql("given.id"))}) AS parked
      OFFSET 0
    ) AS asked
    LEFT JOIN queues ON queues.id = asked.id
    CROSS JOIN LATERAL (${sql.literal(firstDueTimeSql("asked.id"))}) AS first
    WHERE queues.id IS NULL
      OR (${sql.literal(isOpen)} AND ${sql.literal(freeSlots)} > 0)`
}

/**
 * Locks queues that no other transaction has locked, and returns them. The locks last until the
 * transaction ends.
 */
const lockQueues = (sql: SqlClient.SqlClient, queueIds: ReadonlyArray<string>) =>
  sql<{ readonly id: string }>`
    SELECT id
    FROM queues
    WHERE id = ANY (${queueIds}::uuid[])
      AND ${sql.literal(isOpen)}
    ORDER BY id
    FOR NO KEY UPDATE SKIP LOCKED`.pipe(Effect.map((rows) => rows.map(({ id }) => id)))

/**
 * Gives the free slots of the queues to their runs, in the order of `queueOrderSql`. Only this
 * statement gives slots, and only while it holds the lock of the queue, so no two nodes give the
 * same slot. The lock is taken by an earlier statement, because a statement that waits for a lock
 * counts the runs as they were before the wait. A rate spaces the times at which runs are due.
 * Turns that an idle queue does not use are lost.
 *
 * 1. `open` contains the queues with the number of their free slots.
 * 2. `turns` contains the runs that get them, numbered in each queue.
 * 3. `timed` contains the time at which each run is due, and the node that leases it.
 * 4. `admitted` updates the runs, and `spaced` the next turns of queues with a rate.
 */
const admitLocked = (
  sql: SqlClient.SqlClient,
  queueIds: ReadonlyArray<string>,
  lease: LeaseOptions
) => sql<AdmittedRow>`
    WITH ${openQueues(sql, queueIds)}, ${turnsOfOpen(sql)}, ${timedTurns(sql, lease)}, admitted AS (
      UPDATE runs
      SET
        state = CASE WHEN timed.owner IS NULL THEN 'ready' ELSE 'leased' END,
        slot_queue_id = runs.queue_id,
        due_at = timed.due_at,
        lease_owner = timed.owner
      FROM timed
      WHERE runs.ctid = ANY (ARRAY(SELECT row_id FROM timed))
        AND runs.ctid = timed.row_id
        AND timed.due_at <= ${sql.literal(horizon)}
      RETURNING
        timed.id AS queue_id, timed.spacing, timed.slots, runs.id, runs.workspace_id, runs.attempt,
        runs.kind, runs.task_id, runs.version_id, runs.step_index, runs.due_at, runs.lane,
        runs.lease_owner
    ), spaced AS (
      UPDATE queues
      SET next_at = last.due_at + last.spacing
      FROM (
        SELECT queue_id, spacing, max(due_at) AS due_at
        FROM admitted
        GROUP BY queue_id, spacing
      ) AS last
      WHERE queues.id = last.queue_id
        AND last.spacing IS NOT NULL
    )
    SELECT
      id, workspace_id, attempt, queue_id, slots,
      lease_owner IS NOT NULL AS is_leased,
      (lane >> 32)::integer AS share,
      CASE
        WHEN lease_owner IS NOT NULL THEN ${sql.literal(targetOf(targetColumnsOf("admitted")))}
      END AS target,
      date_part('epoch', due_at) * 1000 AS due_ms
    FROM admitted`

const openQueues = (sql: SqlClient.SqlClient, queueIds: ReadonlyArray<string>) => sql`
    open AS MATERIALIZED (
      SELECT
        queues.id,
        greatest(queues.next_at, now()) AS base,
        interval '1 second' / queues.rate_per_second AS spacing,
        least(
          ${sql.literal(freeSlots)},
          1 + floor(
            date_part('epoch', ${sql.literal(horizon)} - greatest(queues.next_at, now()))
              * queues.rate_per_second
          ),
          ${sql.literal(turnsLeft)},
          ${batch}
        ) AS slots
      FROM queues
      WHERE queues.id = ANY (${queueIds}::uuid[])
    )`

const turnsOfOpen = (sql: SqlClient.SqlClient) => sql`
    turns AS MATERIALIZED (
      SELECT
        open.id, open.base, open.spacing, open.slots, parked.row_id, parked.due_at,
        parked.run_on, parked.lane,
        row_number() OVER (PARTITION BY open.id ORDER BY parked.turn, parked.ordinal) - 1 AS n
      FROM open
      CROSS JOIN LATERAL (
        SELECT ctid AS row_id, due_at, run_on, lane, ordinal, ${sql.literal(queueOrderSql())} AS turn
        FROM runs
        WHERE ctid = ANY (ARRAY(${sql.literal(nextOfOpen)}))
          AND ${sql.literal(isInPhase("parked"))}
          AND runs.queue_id = open.id
        FOR UPDATE SKIP LOCKED
      ) AS parked
    )`

const nextOfOpen = nextParkedRunsSql("open.id", {
  limit: "greatest(0, open.slots)::bigint",
  until: horizon
})

/**
 * `timed` contains the time at which each admitted run is due, and the node that leases it. Runs
 * for workers, and runs of shares that may hold no more runs here, are not leased.
 */
const timedTurns = (sql: SqlClient.SqlClient, { except, limit, node }: LeaseOptions) => sql`
    timed AS MATERIALIZED (
      SELECT
        id, spacing, slots, row_id,
        CASE
          WHEN row_number() OVER (ORDER BY n) <= ${limit}::integer
            AND run_on IS NULL
            AND (lane >> 32)::integer <> ALL (${except}::integer[])
          THEN (SELECT id FROM nodes WHERE id = ${node} AND died_at IS NULL)
        END AS owner,
        CASE
          WHEN spacing IS NULL THEN greatest(due_at, now())
          ELSE n * spacing
            + greatest(base, max(due_at - n * spacing) OVER (PARTITION BY id ORDER BY n))
        END AS due_at
      FROM turns
    )`

interface AdmittedRow extends LeasedRun {
  readonly queue_id: string
  /** The number of free slots of the queue. */
  readonly slots: number
  readonly is_leased: boolean
}

/**
 * Decides which of the admitted runs the same statement leases. A leased run can start immediately,
 * so its slot is not idle until a claim.
 */
export interface LeaseOptions {
  readonly node: number
  readonly limit: number
  /** Shares whose runs are not leased. */
  readonly except: ReadonlyArray<number>
}

export interface AdmitResult {
  readonly leased: ReadonlyArray<LeasedRun>
  /** Whether runs were admitted that are not leased yet. */
  readonly isMore: boolean
  /** Queues from which runs were admitted and that may have free slots left. */
  readonly open: ReadonlyArray<string>
  /** Queues from which runs were admitted and that have no slot left. */
  readonly full: ReadonlyArray<string>
  /** Queues whose runs another node is admitting. */
  readonly busy: ReadonlyArray<string>
}

export const admit = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, queueIds: ReadonlyArray<string>, lease: LeaseOptions) {
    const locked = yield* lockQueues(sql, queueIds)
    const rows = locked.length === 0 ? [] : yield* admitLocked(sql, locked, lease)
    const admittedOf = Map.groupBy(rows, ({ queue_id }) => queue_id)
    const isFull = (id: string) => {
      const admitted = admittedOf.get(id) ?? []
      return admitted.every(({ slots }) => admitted.length === slots && slots < batch)
    }
    const result: AdmitResult = {
      leased: rows
        .filter(({ is_leased }) => is_leased)
        .map(({ attempt, due_ms, id, share, target, workspace_id }) => ({
          id,
          workspace_id,
          share,
          target,
          attempt,
          due_ms,
          holdsSlot: true
        })),
      isMore: rows.some(({ is_leased }) => !is_leased),
      open: [...admittedOf.keys()].filter((id) => !isFull(id)),
      full: [...admittedOf.keys()].filter(isFull),
      busy: queueIds.filter((id) => !locked.includes(id))
    }
    return result
  },
  (effect, sql) => sql.withTransaction(effect)
)
