import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { claimFoundRuns } from "../transitions/claim.ts"
import { workerLookAheadMs } from "./AgentRunSearch.ts"
import { variableLengthColumns } from "../../store/index.ts"
import { waitsForWorker } from "../runsForWorkers.ts"

/** Due runs of a workspace with the same set of labels. */
export interface DueWorkerRuns {
  readonly workspace_id: string
  readonly labels: ReadonlyArray<string>
  /** The number of due runs, at most `maxCounted`, including those of `upcoming_ms`. */
  readonly due: number
  /** When the next runs are due on the database clock, in ascending order, one entry per run. */
  readonly upcoming_ms: ReadonlyArray<number>
}

const maxCounted = 500

/**
 * The maximum number of distinct label sets per workspace in one query. Usually there are only a
 * few.
 */
const maxSets = 64

/**
 * Creates the search for the runs that are due for the workers of workspaces, now and within
 * `workerLookAheadMs`. A query skips from one set of labels to the next, so that its cost does not
 * depend on the number of waiting runs. In a workspace with more than `maxSets` sets, the next
 * search continues after the last set, because the first sets may wait for workers that are offline.
 */
export const makeFindDueWorkerRuns = (sql: SqlClient.SqlClient) => {
  const reached = new Map<string, string>()
  return Effect.fnUntraced(function* (workspaces: ReadonlyArray<AuthorizedWorkspaceId>) {
    const column = variableLengthColumns(sql, workspaces)
    const rows = yield* queryDueRuns(
      sql,
      sql`unnest(
        ${column("uuid", (id) => id)},
        ${column("text", (id) => reached.get(id) ?? beforeAllSets)}
      ) AS asked (workspace_id, after_set)`
    )
    for (const id of workspaces) reached.delete(id)
    for (const { last_set, workspace_id } of rows) {
      if (workspace_id !== null && last_set !== null) reached.set(workspace_id, last_set)
    }
    return {
      now_ms: rows[0]?.now_ms ?? 0,
      found: rows.filter((row): row is DueRow & DueWorkerRuns => row.workspace_id !== null)
    }
  })
}

/** A JSON value that PostgreSQL sorts before all objects. */
const beforeAllSets = "null"

/** A row of the query. A row without a workspace contains only the time. */
interface DueRow {
  readonly now_ms: number
  readonly workspace_id: string | null
  readonly labels: ReadonlyArray<string> | null
  readonly due: number | null
  readonly upcoming_ms: ReadonlyArray<number> | null
  /** The set of this row, if the query has not looked for further sets. */
  readonly last_set: string | null
}

const queryDueRuns = (sql: SqlClient.SqlClient, asked: Statement.Fragment) =>
  sql<DueRow>`
    WITH RECURSIVE sets AS (
      SELECT asked.workspace_id, first.run_on, 1 AS n
      FROM ${asked}
      CROSS JOIN LATERAL (
        SELECT run_on
        FROM runs
        WHERE ${sql.literal(waitsForWorker)}
          AND workspace_id = asked.workspace_id
          AND run_on > asked.after_set::jsonb
        ORDER BY run_on
        LIMIT 1
      ) AS first
      UNION ALL
      SELECT sets.workspace_id, next.run_on, sets.n + 1
      FROM sets
      CROSS JOIN LATERAL (
        SELECT run_on
        FROM runs
        WHERE ${sql.literal(waitsForWorker)}
          AND workspace_id = sets.workspace_id
          AND run_on > sets.run_on
        ORDER BY run_on
        LIMIT 1
      ) AS next
      WHERE sets.n < ${maxSets}
    )
    SELECT
      date_part('epoch', now()) * 1000 AS now_ms, counted.*
    FROM (SELECT) AS always
    LEFT JOIN (
      SELECT
        sets.workspace_id, sets.run_on -> 'labels' AS labels, counted.due, counted.upcoming_ms,
        CASE sets.n WHEN ${maxSets} THEN sets.run_on::text END AS last_set
      FROM sets
      CROSS JOIN LATERAL (
        SELECT
          (count(*) FILTER (WHERE due_at <= now()))::int AS due,
          coalesce(
            array_agg(date_part('epoch', due_at) * 1000 ORDER BY due_at)
              FILTER (WHERE due_at > now()),
            '{}'
          ) AS upcoming_ms
        FROM (
          SELECT due_at
          FROM runs
          WHERE ${sql.literal(waitsForWorker)}
            AND workspace_id = sets.workspace_id
            AND run_on = sets.run_on
            AND ${sql.literal(second)} <= now() + ${workerLookAheadMs} * interval '1 millisecond'
          ORDER BY ${sql.literal(second)}
          LIMIT ${maxCounted}
        ) AS found
      ) AS counted
      WHERE counted.due > 0
        OR cardinality(counted.upcoming_ms) > 0
        OR sets.n = ${maxSets}
    ) AS counted ON true`

const second = "date_bin('1 second', due_at, timestamptz 'epoch')"

/**
 * Leases due runs with these sets of labels to the session of a worker, the most overdue runs of
 * each set first, and the sets in the given order. The worker is checked again, because its agent
 * may have waited since authentication. `variableLengthColumns` hides the number of sets from the
 * planner, which would otherwise plan the statement again each time.
 */
export const claimForWorker = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  options: {
    readonly workspace_id: AuthorizedWorkspaceId
    readonly session: number
    readonly sets: ReadonlyArray<ReadonlyArray<string>>
    readonly limit: number
  }
) {
  const sets = variableLengthColumns(sql, options.sets)("text", (labels) =>
    JSON.stringify({ labels })
  )
  return yield* claimFoundRuns(sql, options.session, {
    due: sql`
      due AS (
        SELECT picked.row_id
        FROM unnest(${sets}) WITH ORDINALITY AS sets (run_on, n)
        JOIN workers
          ON workers.workspace_id = ${options.workspace_id}
          AND workers.node_id = ${options.session}
          AND NOT workers.paused
          AND sets.run_on::jsonb -> 'labels' <@ to_jsonb(workers.labels)
        CROSS JOIN LATERAL (
          SELECT ctid AS row_id
          FROM runs
          WHERE ${sql.literal(waitsForWorker)}
            AND workspace_id = ${options.workspace_id}
            AND run_on = sets.run_on::jsonb
            AND ${sql.literal(second)} <= now()
            AND due_at <= now()
          ORDER BY ${sql.literal(second)}
          LIMIT ${options.limit}
          FOR UPDATE SKIP LOCKED
        ) AS picked
        LIMIT ${options.limit}
      )`,
    reached: sql.literal("")
  })
})
