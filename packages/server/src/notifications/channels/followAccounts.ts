import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { settingsDefaults } from "@scheduling/domain/notifications/NotificationSettings"
import { NotificationChannelId, type UserId } from "@scheduling/domain/shared/Ids"
import { DateTime, Effect, Layer, Option } from "effect"
import { AccountEvents, ChangeLog, currentAuthor, UsersRepo } from "../../accounts/index.ts"
import { Ids, Secrets } from "../../core/index.ts"
import { Mailer } from "../../mail/index.ts"
import { kinds } from "../kinds/kinds.ts"
import { noSettings, settingsChange, SettingsRepo } from "../settings/SettingsRepo.ts"
import { sealConfig } from "./ChannelSecrets.ts"
import { channelDefinition, ChannelsRepo } from "./ChannelsRepo.ts"
import { Consent } from "./Consent.ts"

/**
 * Keeps the email channels of workspaces in sync with the addresses of their owners and members.
 */
export const FollowAccountsLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const consent = yield* Consent
    yield* (yield* AccountEvents).subscribe({
      workspaceCreated: yield* firstChannel,
      emailVerified: consent.confirmOfMember,
      memberEmailRemoved: consent.endOfMember
    })
  })
)

/**
 * Creates the email channel of a new workspace, which sends failures and recoveries to the owner if
 * the service has a mail server. Runs in the transaction that creates the workspace.
 */
const firstChannel = Effect.gen(function* () {
  const changeLog = yield* ChangeLog
  const channels = yield* ChannelsRepo
  const ids = yield* Ids
  const mailer = yield* Mailer
  const settings = yield* SettingsRepo
  const users = yield* UsersRepo
  const ring = (yield* Secrets).keys("notification-channel")

  return Effect.fn("firstChannel")(function* (workspaceId: AuthorizedWorkspaceId, ownerId: UserId) {
    if (mailer.unavailable !== null) return
    const owner = Option.getOrUndefined(yield* users.find(ownerId))
    if (owner === undefined) return
    const id = yield* ids.next
    const now = yield* DateTime.nowAsDate
    const isVerified = owner.email_verified_at !== null
    const channel = {
      ...sealConfig(ring, id, kinds.email, { to: owner.email }),
      id,
      workspace_id: workspaceId,
      key: null,
      name: "Owner",
      kind: "email" as const,
      tags: [],
      version: 1,
      paused: false,
      paused_reason: null,
      confirmed: isVerified,
      by_membership: isVerified,
      created_by: (yield* currentAuthor).actor,
      updated_by: null,
      created_at: now,
      updated_at: now
    }
    yield* channels.insert(channel)
    yield* changeLog.record({
      kind: "notification_channel",
      workspace_id: workspaceId,
      id,
      after: channelDefinition(channel)
    })
    const rules = [{ events: firstEvents, channel_ids: [NotificationChannelId.make(id)] }]
    const first = { ...settingsDefaults, rules }
    yield* settings.update(workspaceId, 0, first, now)
    yield* changeLog.record(settingsChange(workspaceId, noSettings, { ...first, version: 1 }, now))
  }, Effect.orDie)
})

const firstEvents = [
  "execution.failed",
  "chain_run.failed",
  "task.recovered",
  "task.paused",
  "incident.opened",
  "incident.closed",
  "certificate.expiring",
  "worker.offline",
  "worker.online",
  "api_key.expiring",
  "quota.near"
] as const
