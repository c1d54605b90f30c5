import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { MonitorKind, MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import { Context, Effect, Layer } from "effect"
import { IncidentsRepo, type NewIncident } from "./incidents/IncidentsRepo.ts"
import { type Announcement, Outbox } from "../events/index.ts"
import { idAt } from "./idAt.ts"
import { type KnownMonitor, MonitorsRepo } from "./MonitorsRepo.ts"

type StoredStatus = Exclude<MonitorStatus, "late">

/** One that a monitor goes through, with the others of its monitor in their order. */
export interface StatusChange {
  readonly monitor_id: string
  readonly workspace_id: string
  readonly kind: MonitorKind
  readonly from: StoredStatus
  readonly to: StoredStatus
  readonly at: number
  /** Of one that goes down. */
  readonly cause: IncidentCause | null
}

/**
 * Writes what follows from status changes: the status, the incident (at most one open per monitor),
 * and what people are told. Call it in the transaction that holds the rows.
 */
export class StatusChanges extends Context.Service<
  StatusChanges,
  { readonly record: (changes: ReadonlyArray<StatusChange>) => Effect.Effect<void> }
>()("@scheduling/server/monitoring/StatusChanges") {
  static readonly layer: Layer.Layer<StatusChanges, never, IncidentsRepo | MonitorsRepo | Outbox> =
    Layer.effect(
      StatusChanges,
      Effect.gen(function* () {
        const incidents = yield* IncidentsRepo
        const monitors = yield* MonitorsRepo
        const outbox = yield* Outbox

        return StatusChanges.of({
          record: Effect.fn("StatusChanges.record")(function* (changes) {
            if (changes.length === 0) return
            const ofMonitors = Map.groupBy(changes, ({ monitor_id }) => monitor_id)
            const begun = changes.flatMap((change, ordinal): ReadonlyArray<NewIncident> => {
              if (change.to !== "down") return []
              const { at, kind, monitor_id, workspace_id } = change
              const id = idAt(at, ordinal)
              const closed_at = endOf(change, ofMonitors.get(monitor_id) ?? [])
              const cause = change.cause ?? unexplained(change)
              return [{ id, workspace_id, monitor_id, kind, opened_at: at, closed_at, cause }]
            })
            const closed = yield* incidents.updateClosed(
              [...ofMonitors.values()].flatMap(([first]) =>
                first?.from === "down" ? [{ monitor_id: first.monitor_id, at: first.at }] : []
              )
            )
            yield* incidents.insert(begun)
            const open = new Map(
              begun.flatMap(({ closed_at, id, monitor_id }) =>
                closed_at === null ? [[monitor_id, id] as const] : []
              )
            )
            const known = yield* monitors.updateStatuses(
              [...ofMonitors.values()].flatMap((own) => {
                const last = own.at(-1)
                return last === undefined
                  ? []
                  : [
                      {
                        monitor_id: last.monitor_id,
                        status: last.to,
                        at: last.at,
                        open_incident_id: open.get(last.monitor_id) ?? null
                      }
                    ]
              })
            )
            const byId = new Map(known.map((monitor) => [monitor.monitor_id, monitor]))
            const incidentOf = incidentsIn(changes, begun, closed)
            yield* outbox.announce(
              ...changes.flatMap((change) =>
                announcementOf(change, byId.get(change.monitor_id), incidentOf.get(change))
              )
            )
            for (const { monitor_id, to, workspace_id } of changes) {
              if (to === "paused") yield* outbox.forget({ workspace_id, subject_id: monitor_id })
            }
          })
        })
      })
    )
}

const announcementOf = (
  { at, cause, from, kind, monitor_id, to, workspace_id }: StatusChange,
  monitor: KnownMonitor | undefined,
  incident_id: string | undefined
): ReadonlyArray<Announcement> => {
  // Of one that got another target, people may have heard that it was down.
  const mayBeUpAgain = from === "down" || (kind === "ssl" && from === "new")
  const event = to === "down" ? "monitor.down" : mayBeUpAgain ? "monitor.up" : undefined
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
      data: { name, ...reason, ...(incident_id === undefined ? {} : { incident_id }) }
    }
  ]
}

/** The incident that each change begins or ends. `begun` are in the order of the changes. */
const incidentsIn = (
  changes: ReadonlyArray<StatusChange>,
  begun: ReadonlyArray<NewIncident>,
  closed: ReadonlyMap<string, string>
): ReadonlyMap<StatusChange, string> => {
  const open = new Map(closed)
  const found = new Map<StatusChange, string>()
  let next = 0
  for (const change of changes) {
    const id = change.to === "down" ? begun[next++]?.id : open.get(change.monitor_id)
    if (id === undefined) continue
    found.set(change, id)
    open.set(change.monitor_id, id)
  }
  return found
}

/** When the next change ended it; null where it goes on. */
const endOf = (change: StatusChange, own: ReadonlyArray<StatusChange>): number | null =>
  own[own.indexOf(change) + 1]?.at ?? null

const unexplained = ({ monitor_id }: StatusChange): never => {
  throw new Error(`monitor ${monitor_id} goes down without a cause`)
}
