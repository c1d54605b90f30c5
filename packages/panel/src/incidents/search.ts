import { given, oneOf, textIn } from "../ui/lists/search.ts"

/** What the list of incidents is narrowed to. */
export interface IncidentSearch {
  readonly open?: "true" | "false"
  readonly monitor_id?: string
}

export const incidentSearch = ({ monitor_id, open }: Record<string, unknown>): IncidentSearch =>
  given({ open: oneOf(["true", "false"], String(open)), monitor_id: textIn(monitor_id) })
