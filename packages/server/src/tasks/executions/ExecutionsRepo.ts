import { type ExecutionError, parseErrorLine } from "@scheduling/domain/executions/ExecutionError"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { ChainRunId, ExecutionId } from "@scheduling/domain/shared/Ids"
import {
  type Attempt,
  type Execution,
  type ExecutionDetail,
  type ExecutionKind,
  type ExecutionStatus,
  type ExecutionTrigger,
  type ProgressLine,
  TaskId
} from "@scheduling/domain/executions/Execution"
import type { PendingApproval } from "@scheduling/domain/executions/PendingApproval"
import { Context, Effect, Layer, Option, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { flowKeyOfRun, hasBegun, parseExchangeText, apiStatus } from "../../engine/index.ts"
import { countRows, type PageRequest, timestampOf, timestampOrNull } from "../../store/index.ts"
import {
  executionConditions,
  type ExecutionFilter,
  scheduledConditions,
  type ScheduledFilter
} from "./executionConditions.ts"

/** A row of `runs` (queued or running) or of `executions` (finished), with the same columns. */
export interface ExecutionRow {
  readonly id: string
  readonly kind: ExecutionKind
  readonly task_id: string
  readonly chain_run_id: string | null
  readonly step: string | null
  readonly flow_key: string | null
  readonly trigger: ExecutionTrigger
  readonly status: ExecutionStatus
  readonly scheduled_for: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly lateness_ms: number | null
  readonly duration_ms: number | null
  readonly attempts_count: number
  readonly status_code: number | null
  /** The stored error. `shownError` converts it for responses. */
  readonly error: string | null
  readonly awaiting_since: Date | null
  readonly waits_until: Date | null
  readonly approval: PendingApproval | null
}

export interface ExecutionDetailRow extends ExecutionRow {
  readonly progress: ReadonlyArray<ProgressLine> | null
  readonly input: Schema.Json
  readonly attempts: ReadonlyArray<AttemptRow>
}

interface AttemptRow extends Pick<
  Attempt,
  "number" | "started_at" | "finished_at" | "status_code" | "response_body"
> {
  readonly error: string | null
  readonly node: number | null
  readonly worker_id: string | null
  readonly worker_name: string | null
  /** The text that `exchangeText` writes. */
  readonly exchange: string | null
}

export const toExecution = (row: ExecutionRow): Execution => ({
  id: ExecutionId.make(row.id),
  kind: row.kind,
  task_id: TaskId.make(row.task_id),
  chain_run_id: row.chain_run_id === null ? null : ChainRunId.make(row.chain_run_id),
  step: row.step,
  flow_key: row.flow_key,
  trigger: row.trigger,
  status: row.status,
  scheduled_for: timestampOf(row.scheduled_for),
  started_at: timestampOrNull(row.started_at),
  finished_at: timestampOrNull(row.finished_at),
  lateness_ms: row.lateness_ms,
  duration_ms: row.duration_ms,
  attempts_count: row.attempts_count,
  status_code: row.status_code,
  error: shownError(row.error),
  awaiting_completion_since: timestampOrNull(row.awaiting_since),
  waits_until: timestampOrNull(row.waits_until),
  approval: row.approval
})

export const shownError = (stored: string | null): ExecutionError | null =>
  stored === null ? null : parseErrorLine(stored)

export const toExecutionDetail = (row: ExecutionDetailRow): ExecutionDetail => ({
  ...toExecution(row),
  input: row.input,
  attempts: row.attempts.map(toAttempt),
  progress: row.progress ?? []
})

const toAttempt = (attempt: AttemptRow): Attempt => {
  const { finished_at, number, response_body, started_at, status_code } = attempt
  const { headers, ...times } = parseExchangeText(attempt.exchange)
  return {
    number,
    started_at,
    finished_at,
    status_code,
    response_headers: headers === null ? null : headersIn(headers),
    response_body,
    error: shownError(attempt.error),
    duration_ms: finished_at === null ? null : Date.parse(finished_at) - Date.parse(started_at),
    ...times,
    made_by: makerOf(attempt),
    request: null
  }
}

const makerOf = ({ node, worker_id, worker_name }: AttemptRow): Attempt["made_by"] => {
  if (worker_id !== null) return { kind: "worker", id: worker_id, name: worker_name }
  return node === null ? null : { kind: "node", id: String(node), name: null }
}

/**
 * Parses stored header lines. Lines of a repeated header are adjacent, and the last line may be
 * truncated.
 */
const headersIn = (lines: string): Readonly<Record<string, string>> => {
  const headers = new Map<string, string>()
  for (const line of lines.split("\n")) {
    const end = line.indexOf(": ")
    if (end === -1) continue
    const name = line.slice(0, end)
    const before = headers.get(name)
    const value = line.slice(end + 2)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(headers)
}

/**
 * Reads runs and the history as one list. A run that finishes moves from `runs` to `executions` in
 * one transaction and keeps its id. Each query here reads both tables in one statement, so it sees
 * a run exactly once.
 */
export class ExecutionsRepo extends Context.Service<
  ExecutionsRepo,
  {
    /**
     * Lists executions, newest first. Runs that are not due yet are excluded, unless the filter has
     * a status of finished executions.
     */
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filter: ExecutionFilter,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<ExecutionRow>>
    readonly count: (
      workspaceId: AuthorizedWorkspaceId,
      filter: ExecutionFilter
    ) => Effect.Effect<number>
    /** Lists runs that are scheduled for later, soonest first. */
    readonly listScheduled: (
      workspaceId: AuthorizedWorkspaceId,
      filter: ScheduledFilter,
      page: { readonly after: string; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<ExecutionRow>>
    readonly countScheduled: (
      workspaceId: AuthorizedWorkspaceId,
      filter: ScheduledFilter
    ) => Effect.Effect<number>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ExecutionDetailRow>>
  }
>()("@scheduling/server/tasks/executions/ExecutionsRepo") {
  static readonly layer: Layer.Layer<ExecutionsRepo, never, SqlClient.SqlClient> = Layer.effect(
    ExecutionsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const unfinished = sql.literal(unfinishedColumns)
      const history = sql.literal(historyColumns)
      const union = sql.join("\nUNION ALL\n", false)

      return ExecutionsRepo.of({
        list: Effect.fn("ExecutionsRepo.list")(function* (workspaceId, filter, { before, limit }) {
          const { executions, runs, strays } = executionConditions(sql, workspaceId, filter)
          const isBefore = sql`id < ${before}`
          const parts = [
            ...runs.map(
              (matches) => sql`
              (
                SELECT ${unfinished}
                FROM runs
                WHERE ${sql.and([...matches, isBefore])}
                ORDER BY id DESC
                LIMIT ${limit + 1}
              )`
            ),
            // The inner query reads the ids from the primary key alone, which contains all columns
            // that filters use. A filter with few matches therefore reads only the matching rows.
            // The `LIMIT 1` makes PostgreSQL look up each row in the partition that its id belongs
            // to. Otherwise it would join the ids with all rows of all days.
            ...executions.map(
              (matches) => sql`
              SELECT found.*
              FROM (
                SELECT id AS newest_id
                FROM executions
                WHERE ${sql.and([...matches, isBefore])}
                ORDER BY id DESC
                LIMIT ${limit + 1}
              ) AS newest
              CROSS JOIN LATERAL (
                SELECT ${history}
                FROM executions
                WHERE workspace_id = ${workspaceId}
                  AND id = newest_id
                LIMIT 1
              ) AS found`
            ),
            // Stray executions are not read in the order of their ids, because finding the few
            // among 10 million rows would take 5 s.
            ...strays.map(
              (matches) => sql`
              SELECT ${history}
              FROM executions
              WHERE ${sql.and([...matches, isBefore])}`
            )
          ]
          if (parts.length === 0) return []
          return yield* sql<ExecutionRow>`
            SELECT *
            FROM (${union(parts)}) AS newest
            ORDER BY id DESC
            LIMIT ${limit + 1}`
        }, Effect.orDie),

        count: Effect.fn("ExecutionsRepo.count")(function* (workspaceId, filter) {
          const { executions, runs, strays } = executionConditions(sql, workspaceId, filter)
          const parts = [
            ...runs.map((matches) => sql`SELECT 1 FROM runs WHERE ${sql.and(matches)}`),
            ...[...executions, ...strays].map(
              (matches) => sql`SELECT 1 FROM executions WHERE ${sql.and(matches)}`
            )
          ]
          return parts.length === 0 ? 0 : yield* countRows(sql, union(parts))
        }, Effect.orDie),

        listScheduled: Effect.fn("ExecutionsRepo.listScheduled")(function* (
          workspaceId,
          filter,
          { after, limit }
        ) {
          return yield* sql<ExecutionRow>`
            SELECT ${unfinished}
            FROM runs
            WHERE ${sql.and([...scheduledConditions(sql, workspaceId, filter), sql`id > ${after}`])}
            ORDER BY id
            LIMIT ${limit + 1}`
        }, Effect.orDie),

        countScheduled: Effect.fn("ExecutionsRepo.countScheduled")(function* (workspaceId, filter) {
          return yield* countRows(
            sql,
            sql`
            SELECT 1
            FROM runs
            WHERE ${sql.and(scheduledConditions(sql, workspaceId, filter))}`
          )
        }, Effect.orDie),

        find: Effect.fn("ExecutionsRepo.find")(function* (workspaceId, id) {
          const rows = yield* sql<ExecutionDetailRow>`
            SELECT
              execution.*,
              (
                SELECT coalesce(json_agg(tries ORDER BY number), '[]')
                FROM (
                  SELECT made.*, workers.name AS worker_name
                  FROM (
                    SELECT
                      number, ${iso(sql, "started_at")} AS started_at,
                      ${iso(sql, "finished_at")} AS finished_at,
                      status_code, response_body, error, node, worker_id, exchange
                    FROM attempts
                    WHERE execution_id = ${id}
                      AND workspace_id = ${workspaceId}
                    UNION ALL
                    SELECT
                      attempt, ${iso(sql, "attempt_started_at")}, NULL,
                      CASE state WHEN 'awaiting' THEN status_code END, NULL, NULL,
                      coalesce(lease_owner, called_by), nodes.worker_id,
                      CASE state WHEN 'awaiting' THEN exchange END
                    FROM runs
                    LEFT JOIN nodes ON nodes.id = coalesce(lease_owner, called_by)
                    WHERE runs.id = ${id}
                      AND workspace_id = ${workspaceId}
                      AND ${sql.literal(hasBegun())}
                  ) AS made
                  LEFT JOIN workers
                    ON workers.id = made.worker_id
                    AND workers.workspace_id = ${workspaceId}
                ) AS tries
              ) AS attempts,
              (
                SELECT lines
                FROM progress
                WHERE execution_id = ${id}
                  AND workspace_id = ${workspaceId}
              ) AS progress,
              (
                SELECT input
                FROM run_inputs
                WHERE run_inputs.id = coalesce(execution.chain_run_id, execution.id)
                  AND workspace_id = ${workspaceId}
              ) AS input
            FROM (
              SELECT ${unfinished}
              FROM runs
              WHERE id = ${id}
                AND workspace_id = ${workspaceId}
              UNION ALL
              SELECT ${history}
              FROM executions
              WHERE id = ${id}
                AND workspace_id = ${workspaceId}
            ) AS execution`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie)
      })
    })
  )
}

/** SQL for what a row of `runs` waits for. */
export const awaitedColumns = `
  CASE WHEN pause IS NULL THEN awaiting_since END AS awaiting_since,
  CASE WHEN pause ->> 'kind' = 'wait' THEN completes_by END AS waits_until,
  CASE WHEN pause ->> 'kind' = 'approve' THEN jsonb_build_object(
    'message', pause -> 'message',
    'until', to_char(completes_by AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'approvers', pause -> 'approvers'
  ) END AS approval`

const unfinishedColumns = `
  id, kind, task_id, chain_run_id, step, ${flowKeyOfRun} AS flow_key, trigger,
  ${apiStatus()} AS status,
  scheduled_for, started_at, NULL::timestamptz AS finished_at,
  CASE WHEN trigger NOT IN ('rerun', 'backfill')
    THEN round(extract(epoch FROM started_at - scheduled_for) * 1000)::float8
  END AS lateness_ms,
  NULL::float8 AS duration_ms,
  CASE WHEN ${hasBegun()} THEN attempt ELSE attempt - 1 END AS attempts_count,
  status_code, error, ${awaitedColumns}`

/** The SQL columns of an `ExecutionRow`, for a row of `executions`. */
export const historyColumns = `
  id, kind, task_id, chain_run_id, step, flow_key, trigger, status,
  scheduled_for, started_at, finished_at,
  lateness_ms::float8 AS lateness_ms, duration_ms::float8 AS duration_ms,
  attempts_count, status_code, error, NULL::timestamptz AS awaiting_since,
  NULL::timestamptz AS waits_until, NULL::jsonb AS approval`

const iso = (sql: SqlClient.SqlClient, column: string) =>
  sql.literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)
