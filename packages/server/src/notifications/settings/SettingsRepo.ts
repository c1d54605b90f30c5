import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type NotificationRule,
  type NotificationSettings,
  notificationSettingsDefaults
} from "@scheduling/domain/notifications/NotificationSettings"
import type { EscalationPolicyId } from "@scheduling/domain/shared/Ids"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentAuthor, type DefinitionChange } from "../../accounts/index.ts"
import { orWorkspaceNotFound, timestampOf } from "../../store/index.ts"

/**
 * A stored rule. It contains ids instead of keys. A field that does not restrict the rule is
 * omitted.
 */
export interface StoredRule {
  readonly events: NotificationRule["events"]
  readonly channel_ids: NotificationRule["channel_ids"]
  readonly escalation_id?: EscalationPolicyId
  readonly tags?: ReadonlyArray<string>
  readonly task_ids?: ReadonlyArray<string>
  readonly monitor_ids?: ReadonlyArray<string>
}

/** The settings without their version and their time of change, as they are stored in one column. */
export interface SettingsContent extends Omit<
  NotificationSettings,
  "rules" | "updated_at" | "updated_by" | "version"
> {
  readonly rules: ReadonlyArray<StoredRule>
}

/** The settings of a workspace. */
export interface StoredSettings
  extends SettingsContent, Pick<NotificationSettings, "updated_at" | "updated_by" | "version"> {}

interface SettingsRow {
  readonly workspace_id: string
  readonly version: number
  readonly settings: SettingsContent
  readonly updated_by: Actor | null
  readonly updated_at: Date
}

/** The default settings of a workspace. */
export const defaultSettings: StoredSettings = {
  version: 0,
  rules: [],
  ...notificationSettingsDefaults,
  updated_by: null,
  updated_at: null
}

/** Returns the settings without their version and their time of change. */
export const withoutVersion = (settings: SettingsContent): SettingsContent => ({
  rules: settings.rules,
  task_failure_threshold: settings.task_failure_threshold,
  remind_every_seconds: settings.remind_every_seconds,
  quiet_hours: settings.quiet_hours,
  group_seconds: settings.group_seconds
})

/**
 * Describes a change of the settings for the change log. It is always an update, because every
 * workspace has settings from the start.
 */
export const settingsChange = (
  workspace_id: AuthorizedWorkspaceId,
  before: SettingsContent & { readonly version: number },
  after: SettingsContent & { readonly version: number },
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
  ...defaultSettings,
  ...row.settings,
  version: row.version,
  updated_by: row.updated_by,
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
        return row === undefined ? defaultSettings : toSettings(row)
      }, Effect.orDie)

      return {
        find: (workspaceId: AuthorizedWorkspaceId) => find(workspaceId, ""),

        /** Locks the settings until the commit. */
        findForUpdate: (workspaceId: AuthorizedWorkspaceId) => find(workspaceId, "FOR UPDATE"),

        /**
         * Returns the settings of the given workspaces, except those that still have the defaults.
         */
        findAll: Effect.fn("SettingsRepo.findAll")(function* (workspaceIds: ReadonlyArray<string>) {
          const rows = yield* sql<SettingsRow>`
            SELECT *
            FROM notification_settings
            WHERE workspace_id = ANY (${workspaceIds}::uuid[])`
          return new Map(rows.map((row) => [row.workspace_id, toSettings(row)]))
        }, Effect.orDie),

        /** Updates the settings. Returns false if their version has changed. */
        update: Effect.fn("SettingsRepo.update")(function* (
          workspaceId: AuthorizedWorkspaceId,
          version: number,
          settings: SettingsContent,
          now: Date
        ) {
          const json = JSON.stringify(withoutVersion(settings))
          const author = JSON.stringify((yield* currentAuthor).actor)
          const changed =
            version === 0
              ? yield* sql`
                  INSERT INTO notification_settings (
                    workspace_id, version, settings, updated_by, updated_at
                  )
                  VALUES (${workspaceId}, 1, ${json}::jsonb, ${author}::jsonb, ${now})
                  ON CONFLICT DO NOTHING
                  RETURNING version`
              : yield* sql`
                  UPDATE notification_settings
                  SET
                    version = version + 1,
                    settings = ${json}::jsonb,
                    updated_by = ${author}::jsonb,
                    updated_at = ${now}
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
