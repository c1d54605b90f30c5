import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { FieldProblem } from "@scheduling/domain/shared/ValidationIssue"
import type { Effect } from "effect"
import type { MonitorEvent } from "./MonitorEventsRepo.ts"
import type { KindRow, MonitorRows, MonitorTable, RowId, StoredStatus } from "./MonitorRows.ts"

/** The types of one kind. */
export interface KindTypes {
  readonly Row: KindRow
  /** The columns of its table. */
  readonly Columns: object
  /** What is read from other tables when a monitor is shown. */
  readonly Joined: object
  /** What a create takes. */
  readonly Input: { readonly key?: string | null }
  /** What an update takes. */
  readonly Changes: { readonly key?: string | null }
  readonly Monitor: object
  /** What is stored of an event, beside its type, status and time. */
  readonly Details: object
  readonly Event: object
}

/**
 * What one kind of monitor adds to what all kinds have. Requests are served by `monitorsOf`, which
 * asks the kind for what differs. What checks the monitors of the kind is a service of its own.
 */
export interface MonitorKind<Types extends KindTypes> {
  readonly table: MonitorTable<Types["Columns"]>
  readonly rows: MonitorRows<Types["Row"], Types["Columns"], Types["Joined"]>
  /** The settings of a new monitor, with the defaults of absent fields. */
  readonly settingsOf: (input: Types["Input"]) => NamedSettings & Partial<Types["Columns"]>
  /** The settings after a change, or which field does not go together with the others. */
  readonly settingsAfter: (
    row: Types["Row"],
    changes: Types["Changes"]
  ) => Partial<Types["Columns"]> | FieldProblem
  /** Refuses what a workspace may not watch. It is asked before the monitor is locked. */
  readonly allow?: (
    workspaceId: AuthorizedWorkspaceId,
    given: Types["Input"] | Types["Changes"]
  ) => Effect.Effect<void, ValidationFailed>
  /** The columns of a new monitor that are not settings. */
  readonly columnsOfNew?: (
    settings: Partial<Types["Columns"]>,
    at: Date
  ) => Partial<Types["Columns"]>
  readonly afterInsert?: (id: RowId) => Effect.Effect<void>
  readonly decideSettings: (
    row: Types["Row"],
    settings: Partial<Types["Columns"]>,
    at: Date
  ) => MonitorDecision<Types["Columns"]>
  /** A pause or the end of one. */
  readonly decidePaused: (
    row: Types["Row"],
    isPaused: boolean,
    at: Date
  ) => MonitorDecision<Types["Columns"]>
  readonly show: (row: Types["Row"] & Types["Joined"], at: Date) => Types["Monitor"]
  /** What an event has beside its id, type, time and status. */
  readonly showDetails: (
    details: Partial<Types["Details"]>
  ) => Omit<Types["Event"], "id" | "type" | "at" | "status">
}

interface NamedSettings {
  readonly key: string | null
  readonly name: string
  readonly tags: ReadonlyArray<string>
}

export const isProblem = (settings: object): settings is FieldProblem => "problem" in settings

/** What is decided about one monitor. */
export interface MonitorDecision<Columns> {
  readonly columns: Partial<Columns>
  /** In their order. */
  readonly changes: ReadonlyArray<MonitorChange>
  readonly events: ReadonlyArray<Omit<MonitorEvent, "monitor_id" | "workspace_id">>
}

/** A change of a monitor's status. */
export interface MonitorChange<Status extends StoredStatus = StoredStatus> {
  readonly from: Status
  readonly to: Status
  readonly at: number
  /** Set when the status becomes `down`. */
  readonly cause: IncidentCause | null
  /** Announces a recovery although the monitor was not down, because its former target was. */
  readonly endsFormerProblem?: boolean
}

/** The change and the event of a pause, or of the end of one. */
export const pausing = (
  { status: from }: Pick<KindRow, "status">,
  isPaused: boolean,
  at: Date
): Pick<MonitorDecision<unknown>, "changes" | "events"> => {
  const to = isPaused ? "paused" : "new"
  const ms = at.getTime()
  return {
    changes: [{ from, to, at: ms, cause: null }],
    events: [{ type: isPaused ? "paused" : "resumed", status: to, at: ms, details: null }]
  }
}
