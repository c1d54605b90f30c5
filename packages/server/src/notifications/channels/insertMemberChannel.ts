import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { DateTime, Effect } from "effect"
import { ChangeLog, currentAuthor } from "../../accounts/index.ts"
import { Ids, Secrets } from "../../core/index.ts"
import { channelKinds } from "../kinds/channelKinds.ts"
import { sealConfig } from "./ChannelSecrets.ts"
import { channelDefinition, ChannelsRepo } from "./ChannelsRepo.ts"

interface MemberChannel {
  readonly name: string
  readonly to: string
  /** True if the member has verified the address and does not refuse emails. */
  readonly isConfirmed: boolean
}

/**
 * Creates the function that inserts an email channel to a member's address and returns the
 * channel's id. Call it in a transaction.
 */
export const insertMemberChannel = Effect.gen(function* () {
  const changeLog = yield* ChangeLog
  const channels = yield* ChannelsRepo
  const ids = yield* Ids
  const ring = (yield* Secrets).keys("notification-channel")

  return Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    { isConfirmed, name, to }: MemberChannel
  ) {
    const id = yield* ids.next
    const now = yield* DateTime.nowAsDate
    const channel = {
      ...sealConfig(ring, id, channelKinds.email, { to }),
      id,
      workspace_id: workspaceId,
      key: null,
      name,
      kind: "email" as const,
      tags: [],
      version: 1,
      paused: false,
      paused_reason: null,
      confirmed: isConfirmed,
      by_membership: isConfirmed,
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
    return id
  }, Effect.orDie)
})
