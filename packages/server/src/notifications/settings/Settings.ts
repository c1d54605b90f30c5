import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type NotificationSettingsInput,
  settingsDefaults
} from "@scheduling/domain/notifications/NotificationSettings"
import { Conflict, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt } from "@scheduling/domain/shared/ValidationIssue"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog, type Author } from "../../accounts/index.ts"
import { transactionOf } from "../../store/index.ts"
import { ChannelsRepo } from "../channels/ChannelsRepo.ts"
import { SettingsRepo } from "./SettingsRepo.ts"

/** The rules of a workspace: who is notified of what. */
export class Settings extends Context.Service<Settings>()(
  "@scheduling/server/notifications/settings/Settings",
  {
    make: Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const audit = yield* AuditLog
      const channels = yield* ChannelsRepo
      const repo = yield* SettingsRepo

      const checkChannels = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        { rules }: Pick<NotificationSettingsInput, "rules">
      ) {
        const named = rules.flatMap(({ channel_ids }) => channel_ids)
        if (named.length === 0) return
        const known = yield* channels.findIds(workspaceId, named)
        const issues = rules.flatMap(({ channel_ids }, rule) =>
          channel_ids.flatMap((id, index) =>
            known.has(id.toLowerCase())
              ? []
              : [
                  issueAt(
                    ["rules", rule, "channel_ids", index],
                    "not_found",
                    `names no channel of this workspace: ${id}`
                  )
                ]
          )
        )
        if (issues.length > 0) return yield* new ValidationFailed({ issues })
      })

      return {
        get: repo.find,

        replace: Effect.fn("Settings.replace")(function* (
          workspaceId: AuthorizedWorkspaceId,
          input: NotificationSettingsInput,
          author: Author
        ) {
          yield* checkChannels(workspaceId, input)
          const { version, ...given } = input
          const rules = given.rules.map((rule) => ({
            ...rule,
            channel_ids: rule.channel_ids.map(lowerCase),
            ...(rule.task_ids === undefined ? {} : { task_ids: rule.task_ids.map(lowerCase) }),
            ...(rule.monitor_ids === undefined
              ? {}
              : { monitor_ids: rule.monitor_ids.map(lowerCase) })
          }))
          const now = yield* DateTime.nowAsDate
          const settings = { ...settingsDefaults, ...given, rules }
          if (!(yield* repo.update(workspaceId, version, settings, now))) {
            const { version: current } = yield* repo.find(workspaceId)
            return yield* new Conflict({
              resource: "notification_settings",
              field: "version",
              message: `The settings have version ${current}, because somebody changed them. Read them again.`
            })
          }
          yield* audit.recordInWorkspace("notification_settings.updated", workspaceId, {
            actor_id: author.actor_id,
            origin: author.origin,
            details: { version: version + 1, api_key_id: author.api_key_id }
          })
          return yield* repo.find(workspaceId)
        }, transaction),

        /** Removes a channel from all rules, and the rules that name no other channel. */
        removeChannel: Effect.fn("Settings.removeChannel")(function* (
          workspaceId: AuthorizedWorkspaceId,
          channelId: string
        ) {
          const settings = yield* repo.findForUpdate(workspaceId)
          if (!settings.rules.some(({ channel_ids }) => includes(channel_ids, channelId))) return
          const rules = settings.rules
            .map((rule) => ({
              ...rule,
              channel_ids: rule.channel_ids.filter((id) => id !== channelId)
            }))
            .filter(({ channel_ids }) => channel_ids.length > 0)
          const now = yield* DateTime.nowAsDate
          yield* repo.update(workspaceId, settings.version, { ...settings, rules }, now)
        })
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

const lowerCase = <Id extends string>(id: Id): Id => id.toLowerCase() as Id

const includes = (ids: ReadonlyArray<string>, id: string) => ids.includes(id)
