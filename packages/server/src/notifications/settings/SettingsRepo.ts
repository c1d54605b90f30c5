import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type NotificationSettings,
  settingsDefaults
} from "@scheduling/domain/notifications/NotificationSettings"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { intoWorkspace, timestampOf } from "../../store/index.ts"

/** What is kept of them as one value. */
export type Rules = Omit<NotificationSettings, "version" | "updated_at">

interface SettingsRow {
  readonly workspace_id: string
  readonly version: number
  readonly settings: Rules
  readonly updated_at: Date
}

/** As a workspace has them that never said anything. */
export const noSettings: NotificationSettings = {
  version: 0,
  rules: [],
  ...settingsDefaults,
  updated_at: null
}

const keptOf = (settings: Rules): Rules => ({
  rules: settings.rules,
  task_failure_threshold: settings.task_failure_threshold,
  remind_every_seconds: settings.remind_every_seconds,
  quiet_hours: settings.quiet_hours,
  group_seconds: settings.group_seconds
})

const toSettings = (row: SettingsRow): NotificationSettings => ({
  ...noSettings,
  ...row.settings,
  version: row.version,
  updated_at: timestampOf(row.updated_at)
})

export class SettingsRepo extends Context.Service<
  SettingsRepo,
  {
    readonly find: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<NotificationSettings>
    /** Until the commit nobody else changes them. */
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<NotificationSettings>
    /** Of all the workspaces that have some. */
    readonly findAll: (
      workspaceIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, NotificationSettings>>
    /** False where another version is there by now. */
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      version: number,
      settings: Rules,
      now: Date
    ) => Effect.Effect<boolean, NotFound>
  }
>()("@scheduling/server/notifications/settings/SettingsRepo") {
  static readonly layer: Layer.Layer<SettingsRepo, never, SqlClient.SqlClient> = Layer.effect(
    SettingsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return SettingsRepo.of({
        find: Effect.fn("SettingsRepo.find")(function* (workspaceId) {
          const [row] = yield* sql<SettingsRow>`
            SELECT *
            FROM notification_settings
            WHERE workspace_id = ${workspaceId}`
          return row === undefined ? noSettings : toSettings(row)
        }, Effect.orDie),

        findForUpdate: Effect.fn("SettingsRepo.findForUpdate")(function* (workspaceId) {
          const [row] = yield* sql<SettingsRow>`
            SELECT *
            FROM notification_settings
            WHERE workspace_id = ${workspaceId}
            FOR UPDATE`
          return row === undefined ? noSettings : toSettings(row)
        }, Effect.orDie),

        findAll: Effect.fn("SettingsRepo.findAll")(function* (workspaceIds) {
          const rows = yield* sql<SettingsRow>`
            SELECT *
            FROM notification_settings
            WHERE workspace_id = ANY (${workspaceIds}::uuid[])`
          return new Map(rows.map((row) => [row.workspace_id, toSettings(row)]))
        }, Effect.orDie),

        update: Effect.fn("SettingsRepo.update")(function* (workspaceId, version, settings, now) {
          const json = JSON.stringify(keptOf(settings))
          const changed =
            version === 0
              ? yield* sql`
                  INSERT INTO notification_settings (workspace_id, version, settings, updated_at)
                  VALUES (${workspaceId}, 1, ${json}::jsonb, ${now})
                  ON CONFLICT DO NOTHING
                  RETURNING version`
              : yield* sql`
                  UPDATE notification_settings
                  SET version = version + 1, settings = ${json}::jsonb, updated_at = ${now}
                  WHERE workspace_id = ${workspaceId}
                    AND version = ${version}
                  RETURNING version`
          return changed.length > 0
        }, intoWorkspace)
      })
    })
  )
}
