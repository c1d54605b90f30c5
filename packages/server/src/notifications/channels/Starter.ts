import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { NotificationChannelId, type UserId } from "@scheduling/domain/shared/Ids"
import { settingsDefaults } from "@scheduling/domain/notifications/NotificationSettings"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Ids, Secrets } from "../../core/index.ts"
import { UsersRepo } from "../../accounts/index.ts"
import { ChannelsRepo } from "./ChannelsRepo.ts"
import { sealConfig } from "./ChannelSecrets.ts"
import { kinds } from "../kinds.ts"
import { Mailer } from "../../mail/index.ts"
import { SettingsRepo } from "../settings/SettingsRepo.ts"

/** What a workspace begins with: failures and recoveries go to its owner by email, if there is any. */
export class Starter extends Context.Service<
  Starter,
  {
    /** Within the transaction that makes the workspace. */
    readonly begin: (workspaceId: AuthorizedWorkspaceId, ownerId: UserId) => Effect.Effect<void>
  }
>()("@scheduling/server/notifications/channels/Starter") {
  static readonly layer: Layer.Layer<
    Starter,
    never,
    ChannelsRepo | Ids | Mailer | Secrets | SettingsRepo | UsersRepo
  > = Layer.effect(
    Starter,
    Effect.gen(function* () {
      const channels = yield* ChannelsRepo
      const ids = yield* Ids
      const mailer = yield* Mailer
      const settings = yield* SettingsRepo
      const users = yield* UsersRepo
      const ring = (yield* Secrets).keys("notification-channel")

      return Starter.of({
        begin: Effect.fn("Starter.begin")(function* (workspaceId, ownerId) {
          if (mailer.unavailable !== null) return
          const owner = Option.getOrUndefined(yield* users.find(ownerId))
          if (owner === undefined) return
          const id = yield* ids.next
          const now = yield* DateTime.nowAsDate
          yield* channels.insert({
            ...sealConfig(ring, id, kinds.email, { to: owner.email }),
            id,
            workspace_id: workspaceId,
            key: null,
            name: "Owner",
            kind: "email",
            enabled: true,
            disabled_reason: null,
            confirmed: owner.email_verified_at !== null,
            by_membership: owner.email_verified_at !== null,
            created_at: now,
            updated_at: now
          })
          const rules = [{ events: startingEvents, channel_ids: [NotificationChannelId.make(id)] }]
          yield* settings.update(workspaceId, 0, { ...settingsDefaults, rules }, now)
        }, Effect.orDie)
      })
    })
  )
}

const startingEvents = [
  "task.failed",
  "task.recovered",
  "task.disabled",
  "chain.failed",
  "chain.recovered",
  "monitor.down",
  "monitor.up",
  "certificate.expiring",
  "worker.offline",
  "worker.online",
  "api_key.expiring",
  "quota.near"
] as const
