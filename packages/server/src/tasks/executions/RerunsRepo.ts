import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ExecutionFilter, finishedConditions } from "./executionConditions.ts"

/** A finished execution, with the details that determine whether it can run again. */
export interface FinishedExecution {
  /** The id of the execution or, for a step, of its chain run. */
  readonly id: string
  readonly kind: ExecutionKind
  readonly task_id: string
  /** When the execution or, for a step, its chain run was scheduled to run. */
  readonly scheduled_for: Date
  /** True for a step whose chain run has not finished. */
  readonly is_unfinished: boolean
  /** True for a step if the filter also matches an earlier step of its chain run. */
  readonly follows_match: boolean
  /** True for a step that its chain run skipped. */
  readonly was_skipped: boolean
}

export class RerunsRepo extends Context.Service<
  RerunsRepo,
  {
    /** Returns those of the given executions that have finished. */
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>,
      filter?: ExecutionFilter
    ) => Effect.Effect<ReadonlyArray<FinishedExecution>>
  }
>()("@scheduling/server/tasks/executions/RerunsRepo") {
  static readonly layer: Layer.Layer<RerunsRepo, never, SqlClient.SqlClient> = Layer.effect(
    RerunsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return RerunsRepo.of({
        // A step has a higher id than its chain run, so earlier days are not read.
        list: Effect.fn("RerunsRepo.list")(function* (workspaceId, ids, filter) {
          const isFound =
            filter === undefined
              ? sql`false`
              : sql.and(finishedConditions(sql, workspaceId, filter))
          return yield* sql<FinishedExecution>`
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
              ) AS is_unfinished,
              EXISTS (
                SELECT
                FROM executions AS other
                WHERE other.chain_run_id = ended.chain_run_id
                  AND other.workspace_id = ended.workspace_id
                  AND other.id >= ended.chain_run_id
                  AND other.step_index < ended.step_index
                  AND ${isFound}
              ) AS follows_match,
              coalesce(ended.status = 'skipped' AND ended.id <> ended.chain_run_id, false)
                AS was_skipped
            FROM executions AS ended
            WHERE ended.workspace_id = ${workspaceId}
              AND ended.id = ANY (${ids}::uuid[])`
        }, Effect.orDie)
      })
    })
  )
}
