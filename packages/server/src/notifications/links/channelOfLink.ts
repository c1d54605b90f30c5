import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { Effect, Option } from "effect"
import type { ChannelRow, ChannelsRepo } from "../channels/ChannelsRepo.ts"

/**
 * Finds the channel whose recipients are allowed to use a link. Undefined if the channel is deleted
 * or paused.
 */
export const channelOfLink = (
  channels: ChannelsRepo["Service"],
  workspaceId: AuthorizedWorkspaceId,
  channelId: string
): Effect.Effect<ChannelRow | undefined> =>
  Effect.map(channels.find(workspaceId, channelId), (found) =>
    Option.getOrUndefined(Option.filter(found, ({ paused }) => !paused))
  )

/**
 * Returns the actor of a decision that was made through a link. It is the channel, because anybody
 * in the channel may have opened the link.
 */
export const actorOfLink = ({ id, name }: Pick<ChannelRow, "id" | "name">): Actor => ({
  kind: "channel",
  id,
  name
})
