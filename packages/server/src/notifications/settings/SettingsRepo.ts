import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type NotificationRule,
  type NotificationSettings,
  settingsDefaults
} from "@scheduling/domain/notifications/NotificationSettings"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { DefinitionChange } from "../../accounts/index.ts"
import { orWorkspaceNotFound, timestampOf } from "../../store/index.ts"

/** A stored rule, with ids and without the fields that do not restrict it. */
export interface StoredRule {
  readonly events: NotificationRule["events"]
  readonly channel_ids: NotificationRule["channel_ids"]
  readonly tags?: ReadonlyArray<string>
  readonly task_ids?: ReadonlyArray<string>
  readonly monitor_ids?: ReadonlyArray<string>
}

/** The settings that are stored in one column. */
export interface Rules extends Omit<NotificationSettings, "rules" | "updated_at" | "version"> {
  readonly rules: ReadonlyArray<StoredRule>
}

/** The settings of a workspace. */
export interface StoredSettings
  extends Rules, Pick<NotificationSettings, "updated_at" | "version"> {}

interface SettingsRow {
  readonly workspace_id: string
  readonly version: number
  readonly settings: Rules
  readonly updated_at: Date
}

/** The default settings of a workspace. */
export const noSettings: StoredSettings = {
  version: 0,
  rules: [],
  ...settingsDefaults,
  updated_at: null
}

/** Returns the settings without their version and time. */
export const withoutVersion = (settings: Rules): Rules => ({
  rules: settings.rules,
  task_failure_threshold: settings.task_failure_threshold,
  remind_every_seconds: settings.remind_every_seconds,
  quiet_hours: settings.quiet_hours,
  group_seconds: settings.group_seconds
})

/** Describes a change for the log of changes. Every workspace has settings from the start. */
export const settingsChange = (
  workspace_id: AuthorizedWorkspaceId,
  before: Rules & { readonly version: number },
  after: Rules & { readonly version: number },
  now: Date
): DefinitionChange => {
  const definitionOf = ({ version, ...rules }: typeof before) => {
    const fields = { ...withoutVersion(rules) }
    return { version, updated_at: now, updated_by: null, shown: fields, stored: fields }
  }
  return {
    kind: "notification_settings",
    workspace_id,
    id: null,
    before: definitionOf(before),
    after: definitionOf(after)
  }
}

const toSettings = (row: SettingsRow): StoredSettings => ({
  ...noSettings,
  ...row.settings,
  version: row.version,
  updated_at: timestampOf(row.updated_at)
})

export class SettingsRepo extends Context.Service<SettingsRepo>()(
  "@scheduling/server/notifications/settings/SettingsRepo",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const find = Effect.fn("SettingsRepo.find")(function* (
        workspaceId: AuthorizedWorkspaceId,
        lock: "" | "FOR UPDATE"
      ) {
        const [row] = yield* sql<SettingsRow>`
          SELECT *
          FROM notification_settings
          WHERE workspace_id = ${workspaceId}
          ${sql.literal(lock)}`
        return row === undefined ? noSettings : toSettings(row)
      }, Effect.orDie)

      return {
        find: (workspaceId: AuthorizedWorkspaceId) => find(workspaceId, ""),

        /** Locks the settings until the commit. */
        findForUpdate: (workspaceId: AuthorizedWorkspaceId) => find(workspaceId, "FOR UPDATE"),

        /** Returns the settings of the workspaces that have changed them. */
        findAll: Effect.fn("SettingsRepo.findAll")(function* (workspaceIds: ReadonlyArray<string>) {
          const rows = yield* sql<SettingsRow>`
            SELECT *
            FROM notification_settings
            WHERE workspace_id = ANY (${workspaceIds}::uuid[])`
          return new Map(rows.map((row) => [row.workspace_id, toSettings(row)]))
        }, Effect.orDie),

        /** Returns false if the version of the settings has changed. */
        update: Effect.fn("SettingsRepo.update")(function* (
          workspaceId: AuthorizedWorkspaceId,
          version: number,
          settings: Rules,
          now: Date
        ) {
          const json = JSON.stringify(withoutVersion(settings))
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
        }, orWorkspaceNotFound)
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}
