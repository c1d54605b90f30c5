import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { isInPhase } from "./RunState.ts"

export interface Backlog {
  /**
   * The number of due runs that are not leased, counted up to `countTo`. This field and
   * `oldest_due_seconds` exclude runs for workers, whose wait depends on the users' machines.
   */
  readonly due: number
  /** How long the oldest due run has been due. 0 if no run is due. */
  readonly oldest_due_seconds: number
  /** How long the next slot of a schedule has been overdue. 0 if no slot is overdue. */
  readonly unfired_seconds: number
  readonly nodes: number
  /** The number of workers whose agents are online. */
  readonly workers: number
  /** Due runs that no worker has claimed, counted up to `countTo`. */
  readonly due_for_workers: number
}

export const emptyBacklog: Backlog = {
  due: 0,
  oldest_due_seconds: 0,
  unfired_seconds: 0,
  nodes: 0,
  workers: 0,
  due_for_workers: 0
}

/** Counting stops at this number, so that measuring a long queue costs no more than a claim. */
const countTo = 10_000

/** Measures the backlog of the whole database with the indexes that claiming and firing use. */
export const measureBacklog = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, now: Date) {
  const [depth] = yield* sql<Backlog>`
    SELECT
      ${countOf(
        sql,
        sql`
          run_on IS NULL
          AND date_bin('1 second', due_at, timestamptz 'epoch') <= ${now}::timestamptz - interval '1 second'`
      )} AS due,
      greatest(0, extract(epoch FROM ${now}::timestamptz - (
        SELECT min(date_bin('1 second', due_at, timestamptz 'epoch'))
        FROM runs
        WHERE ${isReady(sql)}
          AND run_on IS NULL
      )))::float8 AS oldest_due_seconds,
      greatest(0, extract(epoch FROM ${now}::timestamptz - (
        SELECT min(next_fire_at)
        FROM tasks
        WHERE next_fire_at IS NOT NULL
      )))::float8 AS unfired_seconds,
      ${countOf(sql, sql`run_on IS NOT NULL AND due_at <= ${now}`)} AS due_for_workers,
      (
        SELECT count(*)::int
        FROM nodes
        WHERE died_at IS NULL
          AND worker_id IS NULL
      ) AS nodes,
      (
        SELECT count(*)::int
        FROM nodes
        WHERE died_at IS NULL
          AND worker_id IS NOT NULL
      ) AS workers`
  return depth ?? emptyBacklog
})

const isReady = (sql: SqlClient.SqlClient) => sql.literal(isInPhase("ready"))

const countOf = (sql: SqlClient.SqlClient, due: Statement.Fragment) => sql`
  (
    SELECT count(*)::int
    FROM (
      SELECT
      FROM runs
      WHERE ${isReady(sql)}
        AND ${due}
      LIMIT ${countTo}
    ) AS due
  )`
