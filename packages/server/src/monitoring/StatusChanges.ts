import type { EventIncident } from "@scheduling/domain/events/Event"
import type { Monitor } from "@scheduling/domain/monitors/Monitor"
import { IncidentId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { type NewOutboxEvent, Outbox } from "../events/index.ts"
import { makeIdAt } from "./makeIdAt.ts"
import {
  IncidentsRepo,
  isCoveredByMaintenance,
  MaintenanceRepo,
  type NewIncident
} from "../incidents/index.ts"
import { MonitorEventsRepo } from "./MonitorEventsRepo.ts"
import type { MonitorChange, MonitorDecision } from "./MonitorKind.ts"
import type { MonitorTableRepo, MonitorTable, MonitorRef } from "./MonitorTable.ts"
import { type StatusSpan, UptimeRepo } from "./uptime/UptimeRepo.ts"
import { type MonitorSummary, MonitorsRepo } from "./MonitorsRepo.ts"

/**
 * A status change of one monitor. In a list, the changes of the same monitor are ordered by time.
 */
export interface StatusChange extends MonitorChange {
  readonly monitor_id: string
  readonly workspace_id: string
  readonly kind: Monitor["kind"]
}

/**
 * Writes status changes of monitors: the new status, the incident (at most one open incident per
 * monitor) and the notifications. Call it in the transaction that holds the locks.
 */
export class StatusChanges extends Context.Service<
  StatusChanges,
  {
    readonly record: (changes: ReadonlyArray<StatusChange>) => Effect.Effect<void>
    readonly write: <Columns extends object>(
      table: Pick<MonitorTable<Columns>, "kind">,
      rows: Pick<MonitorTableRepo<unknown, Columns, unknown>, "update">,
      row: MonitorRef,
      decision: MonitorDecision<Columns>
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/monitoring/StatusChanges") {
  static readonly layer: Layer.Layer<
    StatusChanges,
    never,
    | IncidentsRepo
    | MaintenanceRepo
    | MonitorEventsRepo
    | MonitorsRepo
    | Outbox
    | SqlClient.SqlClient
  > = Layer.effect(
    StatusChanges,
    Effect.gen(function* () {
      const events = yield* MonitorEventsRepo
      const incidents = yield* IncidentsRepo
      const maintenance = yield* MaintenanceRepo
      const monitors = yield* MonitorsRepo
      const outbox = yield* Outbox
      const uptime = yield* UptimeRepo

      /** Returns the changes to `down` whose monitors are in maintenance. */
      const findWithheld = Effect.fnUntraced(function* (changes: ReadonlyArray<StatusChange>) {
        const falls = changes.filter(({ to }) => to === "down")
        if (falls.length === 0) return new Set<StatusChange>()
        const workspaceIds = [...new Set(falls.map(({ workspace_id }) => workspace_id))]
        const now = yield* DateTime.nowAsDate
        const coverage = yield* maintenance.findCoverage(workspaceIds, now)
        if (coverage.size === 0) return new Set<StatusChange>()
        const tags = yield* monitors.findTags(falls.map(({ monitor_id }) => monitor_id))
        return new Set(
          falls.filter(({ monitor_id: id, workspace_id }) =>
            isCoveredByMaintenance(coverage.get(workspace_id), { id, tags: tags.get(id) ?? [] })
          )
        )
      })

      const record = Effect.fn("StatusChanges.record")(function* (
        changes: ReadonlyArray<StatusChange>
      ) {
        if (changes.length === 0) return
        const byMonitor = Map.groupBy(changes, ({ monitor_id }) => monitor_id)
        const withheld = yield* findWithheld(changes)
        const opened = changes.flatMap((change, ordinal) =>
          withheld.has(change)
            ? []
            : newIncident(change, ordinal, byMonitor.get(change.monitor_id) ?? [])
        )
        const open = new Map(
          opened.flatMap(({ closed_at, id, subject_id }) =>
            closed_at === null ? [[subject_id, id] as const] : []
          )
        )
        yield* uptime.addSpans([...byMonitor.values()].flatMap(spansOf))
        const known = yield* monitors.updateStatuses(
          [...byMonitor].flatMap(([monitor_id, own]) => {
            const last = own.at(-1)
            if (last === undefined) return []
            const open_incident_id = open.get(monitor_id) ?? null
            const withheld_cause = withheld.has(last) ? last.cause : null
            return [{ monitor_id, status: last.to, at: last.at, open_incident_id, withheld_cause }]
          })
        )
        const closed = yield* incidents.updateClosed(
          [...byMonitor.values()].flatMap(([first]) =>
            first?.from === "down" ? [endOf(first)] : []
          )
        )
        yield* incidents.insert(opened)
        const byId = new Map(known.map((monitor) => [monitor.monitor_id, monitor]))
        const announced = changes.filter((change) => !withheld.has(change))
        const incidentOf = matchIncidents(announced, opened, closed, byId)
        yield* outbox.announce(
          ...announced.flatMap((change) =>
            toOutboxEvents(change, byId.get(change.monitor_id), incidentOf.get(change))
          )
        )
        for (const { monitor_id, to, workspace_id } of changes) {
          if (to === "paused") yield* outbox.forget({ workspace_id, subject_id: monitor_id })
        }
      })

      return StatusChanges.of({
        record,

        write: Effect.fn("StatusChanges.write")(function* (table, rows, row, decision) {
          const { monitor_id, workspace_id } = row
          const id = { monitor_id, workspace_id }
          if (Object.keys(decision.columns).length > 0) yield* rows.update(row, decision.columns)
          yield* events.insert(decision.events.map((event) => ({ ...event, ...id })))
          yield* record(decision.changes.map((change) => ({ ...change, ...id, kind: table.kind })))
        })
      })
    })
  ).pipe(Layer.provide(UptimeRepo.layer))
}

/**
 * Returns the spans of time that end with one monitor's changes. Each span has the status that the
 * monitor had during it.
 */
const spansOf = (own: ReadonlyArray<StatusChange>): ReadonlyArray<StatusSpan> =>
  own.map(({ at, from, monitor_id }, index) => ({
    monitor_id,
    status: from,
    from: own[index - 1]?.at ?? null,
    to: at
  }))

/**
 * Returns the end of an incident. A monitor that is paused, or whose target is replaced, has not
 * recovered.
 */
const endOf = ({ at, monitor_id, to }: StatusChange) => ({
  subject_id: monitor_id,
  at,
  recovered: to === "up" || to === "warning"
})

const newIncident = (
  change: StatusChange,
  ordinal: number,
  own: ReadonlyArray<StatusChange>
): ReadonlyArray<NewIncident> => {
  const { at, cause, kind, monitor_id, to, workspace_id } = change
  if (to !== "down") return []
  if (cause === null) throw new Error(`monitor ${monitor_id} cannot go down without a cause`)
  const closed_at = own[own.indexOf(change) + 1]?.at ?? null
  return [
    {
      id: makeIdAt(at, ordinal),
      workspace_id,
      subject_kind: kind,
      subject_id: monitor_id,
      subject_name: null,
      opened_at: at,
      closed_at,
      cause
    }
  ]
}

/** Returns the events that announce a status change. Empty if the change is not announced. */
export const toOutboxEvents = (
  { at, cause, endsFormerProblem = false, from, kind, monitor_id, to, workspace_id }: StatusChange,
  monitor: MonitorSummary | undefined,
  incident: EventIncident | undefined
): ReadonlyArray<NewOutboxEvent> => {
  const recovers = from === "down" || endsFormerProblem
  const event = to === "down" ? "incident.opened" : recovers ? "incident.closed" : undefined
  if (event === undefined || to === "paused" || to === "new" || monitor === undefined) return []
  const { name, tags } = monitor
  const reason = cause === null ? {} : { reason: cause.message }
  return [
    {
      workspace_id,
      event,
      subject_id: monitor_id,
      tags,
      at: new Date(at),
      data: {
        name,
        ...reason,
        about: { incident: incident ?? unknownIncident(monitor_id, kind, name) }
      }
    }
  ]
}

const unknownIncident = (
  monitor_id: string,
  kind: Monitor["kind"],
  name: string
): EventIncident => ({
  id: null,
  subject: { kind, id: monitor_id, name },
  cause: null
})

export const toEventIncident = (
  { cause, id, subject_id, subject_kind: kind }: NewIncident,
  monitors: ReadonlyMap<string, MonitorSummary>
): EventIncident => ({
  id: IncidentId.make(id),
  subject: { kind, id: subject_id, name: monitors.get(subject_id)?.name ?? "" },
  cause
})

/**
 * Maps each change to the incident that it opens or closes. `opened` must be in the order of the
 * changes.
 */
const matchIncidents = (
  changes: ReadonlyArray<StatusChange>,
  opened: ReadonlyArray<NewIncident>,
  closed: ReadonlyMap<string, EventIncident>,
  monitors: ReadonlyMap<string, MonitorSummary>
): ReadonlyMap<StatusChange, EventIncident> => {
  const open = new Map(closed)
  const found = new Map<StatusChange, EventIncident>()
  const toOpen = opened.map((incident) => toEventIncident(incident, monitors))
  for (const change of changes) {
    const incident = change.to === "down" ? toOpen.shift() : open.get(change.monitor_id)
    if (incident === undefined) continue
    found.set(change, incident)
    open.set(change.monitor_id, incident)
  }
  return found
}
