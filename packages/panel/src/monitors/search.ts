import type { MonitorKind, MonitorStatus } from "@scheduling/sdk"
import { monitorKindNames } from "../data/monitorKinds.ts"
import { given, oneOf, textIn } from "../ui/lists/search.ts"

/** What the list of monitors is narrowed to. */
export interface MonitorSearch {
  readonly kind?: MonitorKind
  readonly status?: MonitorStatus
  readonly name?: string
  readonly tag?: string
}

export const monitorStatuses = ["down", "late", "warning", "up", "new", "paused"] as const

export const monitorSearch = ({
  kind,
  name,
  status,
  tag
}: Record<string, unknown>): MonitorSearch =>
  given({
    kind: oneOf(monitorKindNames, kind),
    status: oneOf(monitorStatuses, status),
    name: textIn(name),
    tag: textIn(tag)
  })
