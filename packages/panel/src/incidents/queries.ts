import type { IncidentDetail, IncidentId, MonitorId, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queryClient } from "../data/queries.ts"
import { dateTimeTextOf, oneOf, searchOf, searchTextOf } from "../ui/lists/search.ts"
import { now } from "../ui/values/clock.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "incidents"] as const

const isOpen = oneOf(["true", "false"])

export const incidentSearch = searchOf({
  open: (value) => isOpen(String(value)),
  subject_id: searchTextOf,
  from: dateTimeTextOf,
  to: dateTimeTextOf
})

export type IncidentSearch = ReturnType<typeof incidentSearch>

export const incidentListOptions = (workspaceId: WorkspaceId, search: IncidentSearch) =>
  listOptions([...all(workspaceId), "list", search], (cursor, signal) =>
    clientOf(workspaceId).incidents.list({ ...search, cursor, limit: 50 }, { signal })
  )

/**
 * The query for the reasons of the latest open incidents, by incident id. Lists of monitors show
 * them.
 */
export const openReasonsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "reasons"],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const query = { open: "true", limit: 100 } as const
      const { data } = await clientOf(workspaceId).incidents.list(query, { signal })
      return new Map(data.map(({ cause, id }) => [id, cause.message]))
    }
  })

export const incidentOptions = (workspaceId: WorkspaceId, incidentId: IncidentId) =>
  queryOptions({
    queryKey: [...all(workspaceId), incidentId],
    queryFn: ({ signal }) => clientOf(workspaceId).incidents.get(incidentId, { signal }),
    // Polls while deliveries are unfinished, because live events do not report deliveries. Also
    // polls for a minute after the incident opened or closed, because its first deliveries start
    // soon afterwards.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && (isFresh(data) || data.deliveries.some(isUnfinished)) ? 2_000 : false
  })

const isFresh = ({ closed_at, opened_at }: IncidentDetail) =>
  now() - Date.parse(closed_at ?? opened_at) < 60_000

const isUnfinished = ({ finished_at }: IncidentDetail["deliveries"][number]) => finished_at === null

/** The query for a monitor's incidents and their retention in days. */
export const incidentsOfMonitorOptions = (workspaceId: WorkspaceId, monitorId: MonitorId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "of", monitorId],
    queryFn: async ({ signal }) => {
      const query = { subject_id: monitorId, limit: 100 }
      const page = await clientOf(workspaceId).incidents.list(query, { signal })
      return { incidents: await page.toArray({ limit: 500 }), keptDays: page.retention_days }
    }
  })

/** Refetches all incident queries after a change. */
export const refetchIncidents = (workspaceId: WorkspaceId): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: all(workspaceId) })
