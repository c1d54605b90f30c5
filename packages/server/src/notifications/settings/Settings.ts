import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type NotificationRule,
  type NotificationSettings,
  type NotificationSettingsInput,
  notificationSettingsDefaults
} from "@scheduling/domain/notifications/NotificationSettings"
import { Stale, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { TaskId } from "@scheduling/domain/executions/Execution"
import { SubjectId } from "@scheduling/domain/shared/Ids"
import { issueAt } from "@scheduling/domain/shared/ValidationIssue"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isDeepStrictEqual } from "node:util"
import { ChangeLog } from "../../accounts/index.ts"
import { transactionOf } from "../../store/index.ts"
import { ChannelsRepo } from "../channels/ChannelsRepo.ts"
import { ruleSubjects } from "./RuleSubjectsRepo.ts"
import { ruleKeys, rulesWithIds } from "./rulesWithIds.ts"
import {
  withoutVersion,
  type SettingsContent,
  settingsChange,
  SettingsRepo,
  type StoredRule,
  type StoredSettings
} from "./SettingsRepo.ts"

/** A workspace's notification settings: who is notified of what. */
export class Settings extends Context.Service<Settings>()(
  "@scheduling/server/notifications/settings/Settings",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const subjects = ruleSubjects(sql)
      const changeLog = yield* ChangeLog
      const channels = yield* ChannelsRepo
      const repo = yield* SettingsRepo

      const checkChannels = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        rules: ReadonlyArray<StoredRule>
      ) {
        const named = rules.flatMap(({ channel_ids }) => channel_ids)
        if (named.length === 0) return
        const known = yield* channels.findIds(workspaceId, named)
        const issues = rules.flatMap(({ channel_ids }, rule) =>
          channel_ids.flatMap((id, index) =>
            known.has(id)
              ? []
              : [
                  issueAt(
                    ["rules", rule, "channel_ids", index],
                    "not_found",
                    `matches no channel in this workspace: ${id}`
                  )
                ]
          )
        )
        if (issues.length > 0) return yield* new ValidationFailed({ issues })
      })

      const checkEscalations = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        rules: ReadonlyArray<StoredRule>
      ) {
        const named = rules.flatMap(({ escalation_id }) => escalation_id ?? [])
        const known = yield* subjects.lockEscalations(workspaceId, named)
        const issues = rules.flatMap(({ escalation_id: id }, rule) =>
          id === undefined || known.has(id)
            ? []
            : [
                issueAt(
                  ["rules", rule, "escalation_id"],
                  "not_found",
                  `matches no escalation policy in this workspace: ${id}`
                )
              ]
        )
        if (issues.length > 0) return yield* new ValidationFailed({ issues })
      })

      const show = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        settings: StoredSettings
      ) {
        const keys = yield* subjects.findKeys(workspaceId, settings.rules)
        const answer: NotificationSettings = {
          ...settings,
          rules: settings.rules.map((rule) => shownRule(rule, keys))
        }
        return answer
      })

      const get = (workspaceId: AuthorizedWorkspaceId) =>
        Effect.flatMap(repo.find(workspaceId), (settings) => show(workspaceId, settings))

      /**
       * Returns the settings in their stored form. Fails unless every record that the rules name
       * exists.
       */
      const checkSettings = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        given: Omit<NotificationSettingsInput, "version">
      ) {
        const found = yield* subjects.findByKeys(workspaceId, ruleKeys(given.rules))
        const { issues, rules } = rulesWithIds(given.rules, found)
        if (issues.length > 0) return yield* new ValidationFailed({ issues })
        yield* checkChannels(workspaceId, rules)
        yield* checkEscalations(workspaceId, rules)
        return { ...notificationSettingsDefaults, ...given, rules }
      })

      const write = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        version: number,
        settings: SettingsContent
      ) {
        const now = yield* DateTime.nowAsDate
        const before = yield* repo.findForUpdate(workspaceId)
        if (before.version === version && areEqual(settings, before)) {
          return yield* get(workspaceId)
        }
        if (!(yield* repo.update(workspaceId, version, settings, now))) {
          const { version: current } = yield* repo.find(workspaceId)
          return yield* new Stale({ version: current })
        }
        const after = { ...settings, version: version + 1 }
        yield* changeLog.record(settingsChange(workspaceId, before, after, now))
        return yield* get(workspaceId)
      })

      return {
        get,

        /**
         * Replaces the settings, unless their version has changed. Equal settings are not written.
         */
        replace: Effect.fn("Settings.replace")(function* (
          workspaceId: AuthorizedWorkspaceId,
          { version, ...given }: NotificationSettingsInput
        ) {
          return yield* write(workspaceId, version, yield* checkSettings(workspaceId, given))
        }, transaction),

        /** Replaces the settings, regardless of their version. Equal settings are not written. */
        define: Effect.fn("Settings.define")(function* (
          workspaceId: AuthorizedWorkspaceId,
          given: Omit<NotificationSettingsInput, "version">
        ) {
          const current = yield* repo.findForUpdate(workspaceId)
          const before = yield* show(workspaceId, current)
          const defined = yield* checkSettings(workspaceId, given)
          if (areEqual(defined, current)) {
            return { isNew: false, record: before }
          }
          const record = yield* write(workspaceId, current.version, defined)
          return { isNew: false, record, before }
        }, transaction),

        /**
         * Removes a channel or an escalation policy from all rules, and deletes rules that notify
         * nobody else.
         */
        removeRecipient: Effect.fn("Settings.removeRecipient")(function* (
          workspaceId: AuthorizedWorkspaceId,
          recipientId: string
        ) {
          const settings = yield* repo.findForUpdate(workspaceId)
          if (!settings.rules.some((rule) => recipientsOf(rule).includes(recipientId))) return
          const rules = settings.rules
            .map(({ escalation_id, ...rule }) => ({
              ...rule,
              channel_ids: rule.channel_ids.filter((id) => id !== recipientId),
              ...(escalation_id !== undefined && escalation_id !== recipientId && { escalation_id })
            }))
            .filter((rule) => recipientsOf(rule).length > 0)
          const now = yield* DateTime.nowAsDate
          const after = { ...settings, rules, version: settings.version + 1 }
          yield* repo.update(workspaceId, settings.version, after, now)
          yield* changeLog.record(settingsChange(workspaceId, settings, after, now))
        })
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

const areEqual = (one: SettingsContent, other: SettingsContent) =>
  isDeepStrictEqual(withoutVersion(one), withoutVersion(other))

const shownRule = (
  { channel_ids, escalation_id, events, monitor_ids, tags, task_ids }: StoredRule,
  keys: ReadonlyMap<string, string>
): NotificationRule => {
  const keysOf = (ids: ReadonlyArray<string>) => ids.flatMap((id) => keys.get(id) ?? [])
  return {
    events,
    channel_ids,
    channel_keys: keysOf(channel_ids),
    escalation_id: escalation_id ?? null,
    escalation_key: keys.get(escalation_id ?? "") ?? null,
    tags: tags ?? null,
    task_ids: task_ids?.map((id) => TaskId.make(id)) ?? null,
    task_keys: task_ids === undefined ? null : keysOf(task_ids),
    monitor_ids: monitor_ids?.map((id) => SubjectId.make(id)) ?? null,
    monitor_keys: monitor_ids === undefined ? null : keysOf(monitor_ids)
  }
}

const recipientsOf = ({ channel_ids, escalation_id }: StoredRule): ReadonlyArray<string> => [
  ...channel_ids,
  ...(escalation_id === undefined ? [] : [escalation_id])
]
