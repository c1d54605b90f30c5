import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ExecutionFilter, finishedConditions } from "./executionConditions.ts"

/** An execution that has ended, with what decides whether it may run again. */
export interface EndedExecution {
  /** The id of its chain run, if it is a step. */
  readonly id: string
  readonly kind: ExecutionKind
  readonly task_id: string
  /** Of its chain run, if it is a step. */
  readonly scheduled_for: Date
  /** Its chain run has not ended. */
  readonly goes_on: boolean
  /** The filter finds a step before it in its chain run, too. */
  readonly is_another: boolean
  /** A step that its chain run passed over. */
  readonly was_passed_over: boolean
}

export class RerunsRepo extends Context.Service<
  RerunsRepo,
  {
    /** Those of the executions that have ended. */
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>,
      filter?: ExecutionFilter
    ) => Effect.Effect<ReadonlyArray<EndedExecution>>
  }
>()("@scheduling/server/tasks/executions/RerunsRepo") {
  static readonly layer: Layer.Layer<RerunsRepo, never, SqlClient.SqlClient> = Layer.effect(
    RerunsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return RerunsRepo.of({
        // Steps have later ids than their chain run, so the days before it are not read.
        list: Effect.fn("RerunsRepo.list")(function* (workspaceId, ids, filter) {
          const isFound =
            filter === undefined
              ? sql`false`
              : sql.and(finishedConditions(sql, workspaceId, filter))
          return yield* sql<EndedExecution>`
            SELECT
              coalesce(ended.chain_run_id, ended.id) AS id, ended.kind, ended.task_id,
              coalesce(
                (
                  SELECT head.scheduled_for
                  FROM executions AS head
                  WHERE head.workspace_id = ended.workspace_id
                    AND head.id = ended.chain_run_id
                ),
                ended.scheduled_for
              ) AS scheduled_for,
              EXISTS (
                SELECT
                FROM runs
                WHERE runs.chain_run_id = ended.chain_run_id
              ) AS goes_on,
              EXISTS (
                SELECT
                FROM executions AS other
                WHERE other.chain_run_id = ended.chain_run_id
                  AND other.workspace_id = ended.workspace_id
                  AND other.id >= ended.chain_run_id
                  AND other.step_index < ended.step_index
                  AND ${isFound}
              ) AS is_another,
              coalesce(ended.status = 'skipped' AND ended.id <> ended.chain_run_id, false)
                AS was_passed_over
            FROM executions AS ended
            WHERE ended.workspace_id = ${workspaceId}
              AND ended.id = ANY (${ids}::uuid[])`
        }, Effect.orDie)
      })
    })
  )
}
