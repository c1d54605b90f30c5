import type { IncidentDetail, IncidentId, MonitorId, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { askForMonitorNames } from "../data/names.ts"
import { listOptions, queries } from "../data/queries.ts"
import { now } from "../ui/values/clock.ts"
import type { IncidentSearch } from "./search.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "incidents"] as const

export const incidentListOptions = (workspaceId: WorkspaceId, search: IncidentSearch) =>
  listOptions([...all(workspaceId), "list", search], async (cursor, signal) => {
    const query = { ...search, cursor, limit: 50 }
    const page = await clientOf(workspaceId).incidents.list(query, { signal })
    askForMonitorNames(
      workspaceId,
      page.data.map(({ monitor_id }) => monitor_id)
    )
    return page
  })

export const incidentOptions = (workspaceId: WorkspaceId, incidentId: IncidentId) =>
  queryOptions({
    queryKey: [...all(workspaceId), incidentId],
    queryFn: ({ signal }) => clientOf(workspaceId).incidents.get(incidentId, { signal }),
    // No event tells what becomes of a message. The first ones come soon after the incident changed.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && (isFresh(data) || data.deliveries.some(isUnderWay)) ? 2_000 : false
  })

const isFresh = ({ closed_at, opened_at }: IncidentDetail) =>
  now() - Date.parse(closed_at ?? opened_at) < 60_000

const isUnderWay = ({ finished_at }: IncidentDetail["deliveries"][number]) => finished_at === null

/** The incidents of a monitor, and for how many days incidents are kept. */
export const incidentsOfMonitorOptions = (workspaceId: WorkspaceId, monitorId: MonitorId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "of", monitorId],
    queryFn: async ({ signal }) => {
      const query = { monitor_id: monitorId, limit: 100 }
      const page = await clientOf(workspaceId).incidents.list(query, { signal })
      return { incidents: await page.toArray({ limit: 500 }), keptDays: page.retention_days }
    }
  })

/** After a change: what is shown of incidents is asked for again. */
export const incidentsChanged = (workspaceId: WorkspaceId): Promise<void> =>
  queries.invalidateQueries({ queryKey: all(workspaceId) })
