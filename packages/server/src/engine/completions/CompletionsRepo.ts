import type { ExecutionStatus } from "@scheduling/domain/executions/Execution"
import { maxProgressLines } from "@scheduling/domain/executions/Execution"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import {
  type AwaitingRun,
  findCompletionDueInMs,
  findOverdue,
  findUnfinished,
  type NodeUptime
} from "./awaitingRuns.ts"
import type { Settlement } from "../Run.ts"
import { awaitCompletion } from "../transitions/awaitCompletion.ts"
import type { CompletionTarget } from "./CompletionUrls.ts"

/** The result of a finished attempt. */
export interface FinishedAttempt {
  /** The status of the execution. Null while another attempt is pending or running. */
  readonly status: Exclude<ExecutionStatus, "queued" | "running"> | null
  readonly attempts_count: number | null
  /** The error of the attempt, in its stored form. */
  readonly error: string | null
}

export interface ReportedProgress extends CompletionTarget {
  readonly text: string
}

export class CompletionsRepo extends Context.Service<
  CompletionsRepo,
  {
    /** Finds the runs among the given ones that have not finished, by id. */
    readonly findUnfinished: (
      asked: ReadonlyArray<CompletionTarget>
    ) => Effect.Effect<ReadonlyMap<string, AwaitingRun>, SqlError.SqlError>
    readonly findOverdue: (
      uptime: NodeUptime
    ) => Effect.Effect<
      { readonly runs: ReadonlyArray<AwaitingRun>; readonly isFull: boolean },
      SqlError.SqlError
    >
    readonly findNextDueInMs: Effect.Effect<number | null, SqlError.SqlError>
    /**
     * Takes runs over from the nodes that make their calls. Returns the ids of the runs that were
     * taken over.
     */
    readonly takeOver: (
      settlements: ReadonlyArray<Settlement>
    ) => Effect.Effect<ReadonlyArray<string>, SqlError.SqlError>
    /** Returns the results in the order of `attempts`. */
    readonly findEnded: (
      attempts: ReadonlyArray<CompletionTarget>
    ) => Effect.Effect<ReadonlyArray<FinishedAttempt>, SqlError.SqlError>
    /** Adds progress lines. Only the last lines of each run are kept. */
    readonly insertProgress: (
      lines: ReadonlyArray<ReportedProgress>
    ) => Effect.Effect<void, SqlError.SqlError>
  }
>()("@scheduling/server/engine/completions/CompletionsRepo") {
  static readonly layer: Layer.Layer<CompletionsRepo, never, SqlClient.SqlClient> = Layer.effect(
    CompletionsRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      CompletionsRepo.of({
        findUnfinished: (asked) => findUnfinished(sql, asked),
        findOverdue: (uptime) => findOverdue(sql, uptime),
        findNextDueInMs: findCompletionDueInMs(sql),
        takeOver: (settlements) =>
          Effect.map(awaitCompletion(sql, settlements), (runs) => runs.map(({ id }) => id)),

        findEnded: Effect.fn("CompletionsRepo.findEnded")(function* (attempts) {
          const column = columnsOf(attempts)
          return yield* sql<FinishedAttempt>`
            SELECT executions.status, executions.attempts_count, tried.error
            FROM unnest(
              ${column("uuid", ({ workspace_id }) => workspace_id)},
              ${column("uuid", ({ id }) => id)},
              ${column("int4", ({ attempt }) => attempt)}
            ) WITH ORDINALITY AS asked (workspace_id, id, attempt, n)
            LEFT JOIN executions
              ON executions.workspace_id = asked.workspace_id
              AND executions.id = asked.id
            LEFT JOIN LATERAL (
              SELECT attempts.error
              FROM attempts
              WHERE attempts.workspace_id = asked.workspace_id
                AND attempts.execution_id = asked.id
                AND attempts.number = asked.attempt
              LIMIT 1
            ) AS tried ON true
            ORDER BY asked.n`
        }),

        insertProgress: Effect.fn("CompletionsRepo.insertProgress")(function* (lines) {
          const byRun = [...Map.groupBy(lines, ({ id }) => id)].toSorted(([a], [b]) =>
            a < b ? -1 : 1
          )
          const column = columnsOf(byRun)
          // The join skips workspaces that were deleted in the meantime.
          yield* sql`
            INSERT INTO progress (execution_id, workspace_id, lines)
            SELECT said.execution_id, workspaces.id, stamped.lines
            FROM unnest(
              ${column("uuid", ([id]) => id)},
              ${column("uuid", ([, [first]]) => first?.workspace_id)},
              ${column("text", ([, own]) =>
                JSON.stringify(own.map(({ attempt, text }) => ({ attempt, text })))
              )}
            ) AS said (execution_id, workspace_id, lines)
            JOIN workspaces ON workspaces.id = said.workspace_id
            CROSS JOIN LATERAL (
              SELECT jsonb_agg(
                jsonb_build_object(
                  'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                ) || line
                ORDER BY n
              ) AS lines
              FROM jsonb_array_elements(said.lines::jsonb) WITH ORDINALITY AS one (line, n)
            ) AS stamped
            ON CONFLICT (execution_id) DO UPDATE
            SET lines = (
              SELECT jsonb_agg(line ORDER BY n)
              FROM (
                SELECT line, n
                FROM jsonb_array_elements(progress.lines || EXCLUDED.lines)
                  WITH ORDINALITY AS one (line, n)
                ORDER BY n DESC
                LIMIT ${maxProgressLines}
              ) AS last
            )`
        })
      })
    )
  )
}
