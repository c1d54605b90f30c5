import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { authorize } from "../accounts/index.ts"
import { scheduledColumns, type ScheduledRow } from "../tasks/index.ts"

export type PlanLimitedTaskKind = "cron" | "chain"

export interface PlanLimitedTaskRow extends ScheduledRow {
  readonly name: string
  readonly tags: ReadonlyArray<string>
  readonly updated_by: Actor | null
}

export class PlanPausesRepo extends Context.Service<
  PlanPausesRepo,
  {
    readonly countActive: (
      workspaceId: AuthorizedWorkspaceId,
      kind: PlanLimitedTaskKind
    ) => Effect.Effect<number>
    /** Locks the newest active tasks, optionally only those with one of the given schedules. */
    readonly listActive: (
      workspaceId: AuthorizedWorkspaceId,
      kind: PlanLimitedTaskKind,
      limit: number,
      schedules?: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<PlanLimitedTaskRow>>
    /** Lists the distinct schedules of all tasks, regardless of the tasks' status. */
    readonly listSchedules: (
      workspaceId: AuthorizedWorkspaceId,
      kind: PlanLimitedTaskKind
    ) => Effect.Effect<ReadonlyArray<string>>
    /** Locks the oldest tasks paused by a plan, except those with one of the given schedules. */
    readonly listPaused: (
      workspaceId: AuthorizedWorkspaceId,
      kind: PlanLimitedTaskKind,
      except: ReadonlyArray<string>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<PlanLimitedTaskRow>>
    readonly update: (row: PlanLimitedTaskRow) => Effect.Effect<void>
    readonly insert: (
      workspaceId: AuthorizedWorkspaceId,
      rows: ReadonlyArray<PlanLimitedTaskRow>,
      now: Date
    ) => Effect.Effect<void>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      rows: ReadonlyArray<PlanLimitedTaskRow>
    ) => Effect.Effect<void>
    readonly listWorkspaces: Effect.Effect<ReadonlyArray<AuthorizedWorkspaceId>>
    /**
     * Lists workspaces with at least this many executions since the day `since`. `of` limits the
     * list to the given workspaces.
     */
    readonly listUsing: (
      executions: number,
      since: string,
      of?: ReadonlyArray<string>
    ) => Effect.Effect<
      ReadonlyArray<{ readonly workspace_id: AuthorizedWorkspaceId; readonly executions: number }>
    >
  }
>()("@scheduling/server/billing/PlanPausesRepo") {
  static readonly layer: Layer.Layer<PlanPausesRepo, never, SqlClient.SqlClient> = Layer.effect(
    PlanPausesRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(
        `${scheduledColumns}, tags, coalesce(updated_by, created_by) AS updated_by`
      )
      const idsOf = (rows: ReadonlyArray<PlanLimitedTaskRow>) => rows.map(({ id }) => id)

      return PlanPausesRepo.of({
        countActive: Effect.fn("PlanPausesRepo.countActive")(function* (workspaceId, kind) {
          const [row] = yield* sql<{ readonly active: number }>`
            SELECT count(*)::int AS active
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = ${kind}
              AND status = 'active'`
          return row?.active ?? 0
        }, Effect.orDie),

        listActive: Effect.fn("PlanPausesRepo.listActive")(function* (
          workspaceId,
          kind,
          limit,
          schedules
        ) {
          return yield* sql<PlanLimitedTaskRow>`
            SELECT ${columns}
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = ${kind}
              AND status = 'active'
              ${schedules === undefined ? sql.literal("") : sql`AND schedule = ANY (${schedules}::text[])`}
            ORDER BY id DESC
            LIMIT ${limit}
            FOR UPDATE`
        }, Effect.orDie),

        listSchedules: Effect.fn("PlanPausesRepo.listSchedules")(function* (workspaceId, kind) {
          const rows = yield* sql<{ readonly schedule: string }>`
            SELECT DISTINCT schedule
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = ${kind}
              AND schedule IS NOT NULL`
          return rows.map(({ schedule }) => schedule)
        }, Effect.orDie),

        listPaused: Effect.fn("PlanPausesRepo.listPaused")(function* (
          workspaceId,
          kind,
          except,
          limit
        ) {
          return yield* sql<PlanLimitedTaskRow>`
            SELECT ${columns}
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = ${kind}
              AND id IN (
                SELECT task_id
                FROM plan_pauses
                WHERE plan_pauses.workspace_id = ${workspaceId}
              )
              AND (schedule IS NULL OR schedule <> ALL (${except}::text[]))
            ORDER BY id
            LIMIT ${limit}
            FOR UPDATE`
        }, Effect.orDie),

        update: Effect.fn("PlanPausesRepo.update")(function* (row) {
          yield* sql`
            UPDATE tasks
            SET
              status = ${row.status},
              paused_reason = ${row.paused_reason},
              next_fire_at = ${row.next_fire_at},
              version = ${row.version},
              updated_by = ${JSON.stringify(row.updated_by)}::jsonb,
              updated_at = ${row.updated_at}
            WHERE workspace_id = ${row.workspace_id}
              AND id = ${row.id}`
        }, Effect.orDie),

        insert: Effect.fn("PlanPausesRepo.insert")(function* (workspaceId, rows, now) {
          yield* sql`
            INSERT INTO plan_pauses (task_id, workspace_id, paused_at)
            SELECT id, workspace_id, ${now}
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND id = ANY (${idsOf(rows)}::uuid[])
            ON CONFLICT DO NOTHING`
        }, Effect.orDie),

        remove: Effect.fn("PlanPausesRepo.remove")(function* (workspaceId, rows) {
          yield* sql`
            DELETE FROM plan_pauses
            WHERE workspace_id = ${workspaceId}
              AND task_id = ANY (${idsOf(rows)}::uuid[])`
        }, Effect.orDie),

        listWorkspaces: sql<{ readonly workspace_id: string }>`
          SELECT DISTINCT workspace_id
          FROM plan_pauses`.pipe(
          Effect.map((rows) => rows.map(({ workspace_id }) => authorize(workspace_id))),
          Effect.orDie,
          Effect.withSpan("PlanPausesRepo.listWorkspaces")
        ),

        listUsing: Effect.fn("PlanPausesRepo.listUsing")(function* (executions, since, of) {
          const rows = yield* sql<{ readonly workspace_id: string; readonly executions: number }>`
            SELECT workspace_id, sum(executions)::float8 AS executions
            FROM usage_days
            WHERE day >= ${since}::date
              ${of === undefined ? sql.literal("") : sql`AND workspace_id = ANY (${of}::uuid[])`}
            GROUP BY workspace_id
            HAVING sum(executions) >= ${executions}`
          return rows.map((row) => ({ ...row, workspace_id: authorize(row.workspace_id) }))
        }, Effect.orDie)
      })
    })
  )
}
