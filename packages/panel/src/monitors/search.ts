import { allMonitorKinds } from "../data/monitorKinds.ts"
import { oneOf, searchOf, searchTextOf } from "../ui/lists/search.ts"

export const monitorStatuses = ["down", "late", "warning", "up", "new", "paused"] as const

export const monitorSearch = searchOf({
  kind: oneOf(allMonitorKinds),
  status: oneOf(monitorStatuses),
  name: searchTextOf,
  tag: searchTextOf
})

export type MonitorSearch = ReturnType<typeof monitorSearch>
