import { monitorKindNames } from "../data/monitorKinds.ts"
import { oneOf, searchOf, textIn } from "../ui/lists/search.ts"

export const monitorStatuses = ["down", "late", "warning", "up", "new", "paused"] as const

export const monitorSearch = searchOf({
  kind: oneOf(monitorKindNames),
  status: oneOf(monitorStatuses),
  name: textIn,
  tag: textIn
})

export type MonitorSearch = ReturnType<typeof monitorSearch>
