import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { notificationSettingsDefaults } from "@scheduling/domain/notifications/NotificationSettings"
import { NotificationChannelId, type UserId } from "@scheduling/domain/shared/Ids"
import { DateTime, Effect, Layer, Option } from "effect"
import { AccountEvents, ChangeLog, UsersRepo } from "../../accounts/index.ts"
import { Mailer } from "../../mail/index.ts"
import { defaultSettings, settingsChange, SettingsRepo } from "../settings/SettingsRepo.ts"
import { Consent } from "./Consent.ts"
import { insertMemberChannel } from "./insertMemberChannel.ts"

/** Keeps workspaces' email channels in sync with the addresses of their owners and members. */
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
 * If the service has a mail server, creates a new workspace's email channel, which sends failures
 * and recoveries to the owner. Runs in the transaction that creates the workspace.
 */
const firstChannel = Effect.gen(function* () {
  const changeLog = yield* ChangeLog
  const insert = yield* insertMemberChannel
  const mailer = yield* Mailer
  const settings = yield* SettingsRepo
  const users = yield* UsersRepo

  return Effect.fn("firstChannel")(function* (workspaceId: AuthorizedWorkspaceId, ownerId: UserId) {
    if (mailer.unavailable !== null) return
    const owner = Option.getOrUndefined(yield* users.find(ownerId))
    if (owner === undefined) return
    const now = yield* DateTime.nowAsDate
    const isConfirmed = owner.email_verified_at !== null
    const id = yield* insert(workspaceId, { name: "Owner", to: owner.email, isConfirmed })
    const rules = [{ events: firstEvents, channel_ids: [NotificationChannelId.make(id)] }]
    const first = { ...notificationSettingsDefaults, rules }
    yield* settings.update(workspaceId, 0, first, now)
    yield* changeLog.record(
      settingsChange(workspaceId, defaultSettings, { ...first, version: 1 }, now)
    )
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
