import type { Member, MonitorId, WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQueries, useQuery } from "@tanstack/react-query"
import { askTogether, type Names } from "./askTogether.ts"
import { clientOf } from "./client.ts"
import { queries } from "./queries.ts"

const nobody: Names = new Map()

const nameOf = askTogether(async (workspaceId, monitor_ids) => {
  const query = { monitor_ids, limit: 100 }
  const { data } = await clientOf(workspaceId).monitors.list(query)
  return new Map(data.map(({ id, name }) => [id, name]))
})

const monitorNameOptions = (workspaceId: WorkspaceId, id: MonitorId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "monitor-names", id],
    staleTime: 60_000,
    queryFn: async () => (await nameOf(workspaceId, id)) ?? "A deleted monitor"
  })

/** Asks for the names of all that a list shows, before the reader gets there. */
export const askForMonitorNames = (
  workspaceId: WorkspaceId,
  monitorIds: ReadonlyArray<MonitorId>
): void => {
  for (const id of new Set(monitorIds)) {
    void queries.prefetchQuery(monitorNameOptions(workspaceId, id))
  }
}

/** The names of a few monitors, as far as they are known. */
export const useMonitorNames = (
  workspaceId: WorkspaceId,
  monitorIds: ReadonlyArray<MonitorId>
): Names =>
  useQueries({
    queries: monitorIds.map((id) => monitorNameOptions(workspaceId, id)),
    combine: (answers) =>
      new Map(
        answers.flatMap(({ data }, at) =>
          data === undefined ? [] : [[monitorIds[at] ?? "", data] as const]
        )
      )
  })

/** The name of a monitor. Undefined until it is known. */
export const useMonitorName = (workspaceId: WorkspaceId, id: MonitorId): string | undefined => {
  const { data, isError } = useQuery(monitorNameOptions(workspaceId, id))
  return data ?? (isError ? `Monitor …${id.slice(-6)}` : undefined)
}

/** Names of the channels of notifications by their ids: at most 100, which is one page. */
export const useChannelNames = (workspaceId: WorkspaceId): Names => {
  const { data = nobody } = useQuery({
    queryKey: ["w", workspaceId, "notifications", "channel-names"],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Names> => {
      const { data: channels } = await clientOf(workspaceId).notifications.channels(
        { limit: 100 },
        { signal }
      )
      return new Map(channels.map(({ id, name }) => [id, name]))
    }
  })
  return data
}

/** The members of a workspace. */
export const membersOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "members", "all"],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      clientOf(workspaceId).members.list({ limit: 100 }, { signal }).toArray({ limit: 1_000 })
  })

const namesOf = (members: ReadonlyArray<Member>): Names =>
  new Map(members.map(({ email, id, name }) => [id, name ?? email]))

/** Names of members by their ids. Those who are gone, and API keys, have none. */
export const useMemberNames = (workspaceId: WorkspaceId): Names =>
  useQuery({ ...membersOptions(workspaceId), select: namesOf }).data ?? nobody
