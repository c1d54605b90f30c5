import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Day } from "@scheduling/domain/billing/Usage"
import type { UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type CountedLimit, countedResources } from "./countedLimits.ts"

/** The latest subscription that the payment provider reported. */
export interface ReportedSubscription {
  readonly status: string
  readonly price_id: string | null
  readonly past_due_since: Date | null
}

export class LimitsRepo extends Context.Service<
  LimitsRepo,
  {
    /** Locks the workspace until the transaction ends. Returns false if it was deleted. */
    readonly lock: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<boolean>
    readonly findSubscription: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<Option.Option<ReportedSubscription>>
    /** Returns whether the task was paused by the plan rather than by a user. */
    readonly isPausedByPlan: (
      workspaceId: AuthorizedWorkspaceId,
      taskId: string
    ) => Effect.Effect<boolean>
    /** Records a notification. Returns false if it was already recorded. */
    readonly insertNotice: (notice: {
      readonly workspace_id: string
      readonly quota: string
      readonly since: Day
      readonly percent: number
    }) => Effect.Effect<boolean>
    /** Counts the workspace's records to which the limit applies, up to `upTo`. */
    readonly count: (
      workspaceId: AuthorizedWorkspaceId,
      limit: CountedLimit,
      now: Date,
      upTo: number
    ) => Effect.Effect<number>
    /**
     * Counts workspaces after locking the user's row, so that two concurrent creates cannot exceed
     * the limit. None if the user was deleted.
     */
    readonly countOwnedWorkspaces: (userId: UserId) => Effect.Effect<Option.Option<number>>
  }
>()("@scheduling/server/plans/LimitsRepo") {
  static readonly layer: Layer.Layer<LimitsRepo, never, SqlClient.SqlClient> = Layer.effect(
    LimitsRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      LimitsRepo.of({
        // FOR UPDATE would block every insert into the workspace.
        lock: Effect.fn("LimitsRepo.lock")(function* (workspaceId) {
          const rows = yield* sql`
            SELECT id
            FROM workspaces
            WHERE id = ${workspaceId}
            FOR NO KEY UPDATE`
          return rows.length > 0
        }, Effect.orDie),

        findSubscription: Effect.fn("LimitsRepo.findSubscription")(function* (workspaceId) {
          const rows = yield* sql<ReportedSubscription>`
            SELECT status, price_id, past_due_since
            FROM subscriptions
            WHERE workspace_id = ${workspaceId}
              AND status IS NOT NULL`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        isPausedByPlan: Effect.fn("LimitsRepo.isPausedByPlan")(function* (workspaceId, taskId) {
          const rows = yield* sql`
            SELECT task_id
            FROM plan_pauses
            WHERE workspace_id = ${workspaceId}
              AND task_id = ${taskId}`
          return rows.length > 0
        }, Effect.orDie),

        count: Effect.fn("LimitsRepo.count")(function* (workspaceId, limit, now, upTo) {
          const [row] = yield* sql<{ readonly used: number }>`
            SELECT count(*)::int AS used
            FROM (
              SELECT
              FROM ${sql.literal(countedResources[limit].table)}
              WHERE workspace_id = ${workspaceId}
                AND ${countedResources[limit].condition(sql, now)}
              LIMIT ${upTo}
            ) AS counted`
          return row?.used ?? 0
        }, Effect.orDie),

        insertNotice: Effect.fn("LimitsRepo.insertNotice")(function* (notice) {
          const rows = yield* sql`
            INSERT INTO quota_notices ${sql.insert(notice)}
            ON CONFLICT DO NOTHING
            RETURNING percent`
          return rows.length > 0
        }, Effect.orDie),

        countOwnedWorkspaces: Effect.fn("LimitsRepo.countOwnedWorkspaces")(function* (userId) {
          const users = yield* sql`
            SELECT id
            FROM users
            WHERE id = ${userId}
            FOR NO KEY UPDATE`
          if (users.length === 0) return Option.none()
          const [row] = yield* sql<{ readonly owned: number }>`
            SELECT count(*)::int AS owned
            FROM memberships
            WHERE user_id = ${userId}
              AND role = 'owner'`
          return Option.some(row?.owned ?? 0)
        }, Effect.orDie)
      })
    )
  )
}
