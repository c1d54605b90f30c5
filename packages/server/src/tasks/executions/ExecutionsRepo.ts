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
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { hasBegun, shownStatus } from "../../engine/index.ts"
import { type PageRequest, timestampOf, timestampOrNull } from "../../store/index.ts"
import { earliestIdAt, latestIdAt } from "./idRange.ts"

/** A row of `runs` (queued or running) or of `executions` (ended). Readers need not know which. */
export interface ExecutionRow {
  readonly id: string
  readonly kind: ExecutionKind
  readonly task_id: string
  readonly chain_run_id: string | null
  readonly step: string | null
  readonly trigger: ExecutionTrigger
  readonly status: ExecutionStatus
  readonly scheduled_for: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly lateness_ms: number | null
  readonly duration_ms: number | null
  readonly attempts_count: number
  readonly status_code: number | null
  /** As it is stored. */
  readonly error: string | null
  readonly awaiting_since: Date | null
}

export interface ExecutionDetailRow extends ExecutionRow {
  readonly progress: ReadonlyArray<ProgressLine> | null
  readonly attempts: ReadonlyArray<Omit<Attempt, "error"> & Pick<ExecutionRow, "error">>
}

export interface ExecutionFilter {
  readonly kind?: ExecutionKind | undefined
  readonly task_id?: string | undefined
  readonly status?: ExecutionStatus | undefined
  /** Bounds of `scheduled_for`. `from` is included, `to` is not. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

export interface ScheduledFilter extends Pick<ExecutionFilter, "kind" | "task_id"> {
  readonly now: Date
  readonly after: string
  readonly limit: number
}

export const toExecution = (row: ExecutionRow): Execution => ({
  id: ExecutionId.make(row.id),
  kind: row.kind,
  task_id: TaskId.make(row.task_id),
  chain_run_id: row.chain_run_id === null ? null : ChainRunId.make(row.chain_run_id),
  step: row.step,
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
  ...shownAwaiting(row)
})

export const shownError = (stored: string | null): ExecutionError | null =>
  stored === null ? null : parseErrorLine(stored)

/** Set only while the run awaits its completion. */
export const shownAwaiting = ({ awaiting_since }: { readonly awaiting_since: Date | null }) =>
  awaiting_since === null ? {} : { awaiting_completion_since: timestampOf(awaiting_since) }

export const toExecutionDetail = (row: ExecutionDetailRow): ExecutionDetail => ({
  ...toExecution(row),
  attempts: row.attempts.map((attempt) => ({ ...attempt, error: shownError(attempt.error) })),
  ...(row.progress !== null && { progress: row.progress })
})

/**
 * The run's time has come, or the run was started ahead of it. Nodes agree on the clock of the
 * database. The bound by the node's clock keeps thousands of pending runs from being read.
 */
const isDue = (sql: SqlClient.SqlClient, now: Date) => sql`
  id < ${latestIdAt(now)} AND (scheduled_for <= now() OR started_at IS NOT NULL)`

/**
 * What ran and what waits to run. A run that ends leaves `runs` for `executions` in one transaction
 * and keeps its id. So each query here reads both tables in one statement and sees a run once.
 */
export class ExecutionsRepo extends Context.Service<
  ExecutionsRepo,
  {
    /**
     * Newest first. What is not due by now is left out, unless the filter has a status that
     * ends.
     */
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filter: ExecutionFilter & { readonly now: Date },
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<ExecutionRow>>
    /** Runs that are queued for later, soonest first. */
    readonly listScheduled: (
      workspaceId: AuthorizedWorkspaceId,
      filter: ScheduledFilter
    ) => Effect.Effect<ReadonlyArray<ExecutionRow>>
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
          const { from, now, status, to } = filter
          const showsDue = status === undefined || status === "queued"
          const conditions = [
            sql`workspace_id = ${workspaceId}`,
            sql`id < ${before}`,
            ...(showsDue ? [isDue(sql, now)] : []),
            ...(filter.kind === undefined ? [] : [sql`kind = ${filter.kind}`]),
            ...(filter.task_id === undefined ? [] : [sql`task_id = ${filter.task_id}`]),
            ...(from === undefined ? [] : [sql`scheduled_for >= ${from}`]),
            ...(to === undefined ? [] : [sql`scheduled_for < ${to}`])
          ]

          const matching = (
            columns: Statement.Fragment,
            table: "runs" | "executions",
            more: ReadonlyArray<Statement.Fragment>
          ) => sql`
            SELECT ${columns}
            FROM ${sql(table)}
            WHERE ${sql.and([...conditions, ...more])}`

          const newest = (...query: Parameters<typeof matching>) => sql`
            (
              ${matching(...query)}
              ORDER BY id DESC
              LIMIT ${limit + 1}
            )`

          const ofRuns = () => [
            newest(
              unfinished,
              "runs",
              status === undefined ? [] : [sql`${sql.literal(shownStatus())} = ${status}`]
            )
          ]
          const ofExecutions = () => {
            // A literal, because with a parameter the partial index on the rarer statuses is of no
            // use.
            const ended = status === undefined ? [] : [sql.literal(`status = '${status}'`)]
            const since = from === undefined ? [] : [sql`id >= ${earliestIdAt(from)}`]
            if (to === undefined) return [newest(history, "executions", [...ended, ...since])]
            const until = latestIdAt(to)
            return [
              newest(history, "executions", [...ended, ...since, sql`id < ${until}`]),
              // Not in order of id, because finding the few stray ones that way took 5 s in 10
              // million.
              matching(history, "executions", [...ended, sql`id >= ${until}`, sql`stray`])
            ]
          }

          const isUnfinished = status === "queued" || status === "running"
          return yield* sql<ExecutionRow>`
            SELECT *
            FROM (
              ${union([
                ...(status === undefined || isUnfinished ? ofRuns() : []),
                ...(isUnfinished ? [] : ofExecutions())
              ])}
            ) AS newest
            ORDER BY id DESC
            LIMIT ${limit + 1}`
        }, Effect.orDie),

        listScheduled: Effect.fn("ExecutionsRepo.listScheduled")(function* (workspaceId, filter) {
          return yield* sql<ExecutionRow>`
            SELECT ${unfinished}
            FROM runs
            WHERE ${sql.and([
              sql`workspace_id = ${workspaceId}`,
              sql`id > ${filter.after}`,
              sql`NOT ${sql.literal(hasBegun())}`,
              sql`NOT (${isDue(sql, filter.now)})`,
              ...(filter.kind === undefined ? [] : [sql`kind = ${filter.kind}`]),
              ...(filter.task_id === undefined ? [] : [sql`task_id = ${filter.task_id}`])
            ])}
            ORDER BY id
            LIMIT ${filter.limit + 1}`
        }, Effect.orDie),

        find: Effect.fn("ExecutionsRepo.find")(function* (workspaceId, id) {
          const rows = yield* sql<ExecutionDetailRow>`
            SELECT
              execution.*,
              (
                SELECT coalesce(json_agg(tries ORDER BY number), '[]')
                FROM (
                  SELECT
                    number, ${iso(sql, "started_at")} AS started_at,
                    ${iso(sql, "finished_at")} AS finished_at,
                    status_code, response_body, error
                  FROM attempts
                  WHERE execution_id = ${id}
                    AND workspace_id = ${workspaceId}
                  UNION ALL
                  SELECT attempt, ${iso(sql, "attempt_started_at")}, NULL,
                    CASE state WHEN 'awaiting' THEN status_code END, NULL, NULL
                  FROM runs
                  WHERE id = ${id}
                    AND workspace_id = ${workspaceId}
                    AND ${sql.literal(hasBegun())}
                ) AS tries
              ) AS attempts,
              (
                SELECT lines
                FROM progress
                WHERE execution_id = ${id}
                  AND workspace_id = ${workspaceId}
              ) AS progress
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

// ---------------------------------------------------------------------------

const unfinishedColumns = `
  id, kind, task_id, chain_run_id, step, trigger, ${shownStatus()} AS status,
  scheduled_for, started_at, NULL::timestamptz AS finished_at,
  CASE WHEN trigger <> 'rerun'
    THEN round(extract(epoch FROM started_at - scheduled_for) * 1000)::float8
  END AS lateness_ms,
  NULL::float8 AS duration_ms,
  CASE WHEN ${hasBegun()} THEN attempt ELSE attempt - 1 END AS attempts_count,
  status_code, error, awaiting_since`

export const historyColumns = `
  id, kind, task_id, chain_run_id, step, trigger, status,
  scheduled_for, started_at, finished_at,
  lateness_ms::float8 AS lateness_ms, duration_ms::float8 AS duration_ms,
  attempts_count, status_code, error, NULL::timestamptz AS awaiting_since`

const iso = (sql: SqlClient.SqlClient, column: string) =>
  sql.literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)
