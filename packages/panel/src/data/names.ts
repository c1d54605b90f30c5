import type { Actor, Member, WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { clientOf } from "./client.ts"
import { nameLookup, type NamesById } from "./nameLookup.ts"

export const monitorNames = nameLookup("monitor", "monitor-names", async (workspaceId, ids) => {
  const query = { monitor_ids: ids, limit: 100 }
  const { data } = await clientOf(workspaceId).monitors.list(query)
  return new Map(data.map(({ id, name }) => [id, name]))
})

const none: NamesById = new Map()

/** Returns channel names by id. A workspace has at most 100 channels, which fit on one page. */
export const useChannelNames = (workspaceId: WorkspaceId): NamesById =>
  useQuery({
    queryKey: ["w", workspaceId, "notifications", "channel-names"],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<NamesById> => {
      const query = { limit: 100 }
      const { data } = await clientOf(workspaceId).notifications.listChannels(query, { signal })
      return new Map(data.map(({ id, name }) => [id, name]))
    }
  }).data ?? none

export const membersOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "members", "all"],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      clientOf(workspaceId).members.list({ limit: 100 }, { signal }).toArray({ limit: 1_000 })
  })

const namesOf = (members: ReadonlyArray<Member>): NamesById =>
  new Map(members.map(({ email, id, name }) => [id, name ?? email]))

/** Returns member names by user id. Former members and API keys are not included. */
export const useMemberNames = (workspaceId: WorkspaceId): NamesById =>
  useQuery({ ...membersOptions(workspaceId), select: namesOf }).data ?? none

/**
 * Returns the display name of the user or API key that made a change. Prefers a member's current
 * name to the recorded one.
 */
export const actorName = (actor: Actor | null, names: NamesById): string => {
  if (actor === null) return "Unknown"
  if (actor.kind === "plan") return "The plan"
  if (actor.kind === "system") return "The service"
  return names.get(actor.id ?? "") ?? actor.name ?? "A former member"
}
