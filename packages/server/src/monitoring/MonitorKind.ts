import type { DependencyInput } from "@scheduling/domain/incidents/Dependency"
import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Monitor as AnyMonitor } from "@scheduling/domain/monitors/Monitor"
import type { ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { FieldProblem } from "@scheduling/domain/shared/ValidationIssue"
import type { Effect, Option } from "effect"
import type { MonitorEvent } from "./MonitorEventsRepo.ts"
import type {
  KindRow,
  MonitorTableRepo,
  MonitorTable,
  MonitorRef,
  StoredStatus
} from "./MonitorTable.ts"

/** The fields of a request that are handled the same way for all kinds. */
interface Given {
  readonly key?: string | null
  readonly version?: number
  readonly paused?: boolean
  readonly depends_on?: ReadonlyArray<DependencyInput>
}

/** The types that differ between the kinds of monitors. */
export interface KindTypes {
  readonly Row: KindRow
  /** The columns of the kind's own table. */
  readonly Columns: object
  /** Columns of other tables that the API shows with a monitor. */
  readonly Joined: object
  readonly Input: Given
  readonly Changes: Given
  readonly Monitor: Pick<AnyMonitor, "version" | "created_by" | "updated_by" | "updated_at">
  /** The JSON object that is stored with an event. */
  readonly Details: object
  readonly Event: object
}

/**
 * The parts that differ between the kinds of monitors. `KindMonitors` serves the requests and calls
 * these functions. Each kind has a separate service that checks its monitors.
 */
export interface MonitorKind<Types extends KindTypes> {
  readonly table: MonitorTable<Types["Columns"]>
  readonly rows: MonitorTableRepo<Types["Row"], Types["Columns"], Types["Joined"]>
  /** Returns the stored values of the fields that `show` masks. */
  readonly stored?: (row: Types["Row"]) => object
  /**
   * Converts a definition to settings, or returns the problem of a field that contradicts other
   * fields. Absent fields have their defaults. `before` is the monitor whose definition is
   * replaced.
   */
  readonly toSettings: (
    input: Types["Input"],
    before?: Types["Row"]
  ) => (NamedSettings & Partial<Types["Columns"]>) | FieldProblem
  /**
   * Returns the settings after a change, or the problem of a field that contradicts other fields.
   */
  readonly changeSettings: (
    row: Types["Row"],
    changes: Types["Changes"]
  ) => Partial<Types["Columns"]> | FieldProblem
  /**
   * Fails if the workspace has no permission to watch this target. It is called before the monitor
   * is locked. `current` reads the monitor, whose fields apply where a PATCH changes nothing.
   */
  readonly checkTarget?: (
    workspaceId: AuthorizedWorkspaceId,
    given: Types["Input"] | Types["Changes"],
    current: Effect.Effect<Option.Option<Types["Row"]>>
  ) => Effect.Effect<void, ValidationFailed>
  /** Returns a new monitor's values for columns that are not settings. */
  readonly initialColumns?: (
    settings: Partial<Types["Columns"]>,
    at: Date
  ) => Partial<Types["Columns"]>
  /** Writes a new monitor's data in other tables, or returns the field that prevents this. */
  readonly afterInsert?: (
    id: MonitorRef,
    input: Types["Input"]
  ) => Effect.Effect<FieldProblem | undefined>
  readonly decideSettings: (
    row: Types["Row"],
    settings: Partial<Types["Columns"]>,
    at: Date
  ) => MonitorDecision<Types["Columns"]>
  readonly decidePaused: (
    row: Types["Row"],
    isPaused: boolean,
    at: Date
  ) => MonitorDecision<Types["Columns"]>
  readonly show: (row: Types["Row"] & Types["Joined"], at: Date) => Types["Monitor"]
  /** Returns an event's fields that only this kind has. */
  readonly showDetails: (
    details: Partial<Types["Details"]>
  ) => Omit<Types["Event"], "id" | "type" | "at" | "status">
}

interface NamedSettings {
  readonly key: string | null
  readonly name: string
  readonly tags: ReadonlyArray<string>
}

export const isSettingsProblem = (settings: object): settings is FieldProblem =>
  "problem" in settings

/** Everything that one transaction writes about one monitor. */
export interface MonitorDecision<Columns> {
  readonly columns: Partial<Columns>
  /** Status changes, oldest first. */
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
  /**
   * True if a recovery must be announced although the monitor was `new`, because a problem of its
   * former target may still be open.
   */
  readonly endsFormerProblem?: boolean
}

/** Returns the status change and the event that a pause or a resume causes. */
export const decidePause = (
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
