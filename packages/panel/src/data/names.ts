import type { Member, MonitorId, MonitorKind, WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { clientOf } from "./client.ts"

const newest = { limit: 100 }

/** The names of the newest monitors, which are most of those that a list shows. */
const monitorNamesOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "monitors", "names"],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const { data } = await clientOf(workspaceId).monitors.list(newest, { signal })
      return new Map(data.map(({ id, name }) => [id, name]))
    }
  })

const none: ReadonlyMap<string, string> = new Map()

/** The names of the newest monitors. */
export const useMonitorNames = (workspaceId: WorkspaceId): ReadonlyMap<string, string> =>
  useQuery(monitorNamesOptions(workspaceId)).data ?? none

const monitorNameOptions = (workspaceId: WorkspaceId, kind: MonitorKind, id: MonitorId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "monitors", "names", id],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const api = clientOf(workspaceId)
      const monitors = {
        heartbeat: api.heartbeatMonitors,
        ssl: api.sslMonitors,
        process: api.processMonitors
      }
      return (await monitors[kind].get(id, { signal })).name
    }
  })

/** The name of a monitor. Undefined until it is known. */
export const useMonitorName = (
  workspaceId: WorkspaceId,
  kind: MonitorKind,
  id: MonitorId
): string | undefined => {
  const names = useQuery(monitorNamesOptions(workspaceId))
  const known = names.data?.get(id)
  const one = useQuery({
    ...monitorNameOptions(workspaceId, kind, id),
    enabled: names.isSuccess && known === undefined
  })
  return known ?? one.data ?? (one.isError ? "A deleted monitor" : undefined)
}

/** The members of a workspace. */
export const membersOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "members", "all"],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      clientOf(workspaceId).members.list(newest, { signal }).toArray({ limit: 1_000 })
  })

const namesOf = (members: ReadonlyArray<Member>): ReadonlyMap<string, string> =>
  new Map(members.map(({ email, id, name }) => [id, name ?? email]))

/** Names of members by their ids. Those who are gone, and API keys, have none. */
export const useMemberNames = (workspaceId: WorkspaceId): ReadonlyMap<string, string> =>
  useQuery({ ...membersOptions(workspaceId), select: namesOf }).data ?? none
