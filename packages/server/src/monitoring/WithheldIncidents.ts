import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { loop, stuckRestartOptions } from "../core/index.ts"
import { Outbox } from "../events/index.ts"
import {
  type MaintenanceCoverage,
  IncidentsRepo,
  MaintenanceRepo,
  type NewIncident
} from "../incidents/index.ts"
import { transactionOf } from "../store/index.ts"
import { makeIdAt } from "./makeIdAt.ts"
import { MonitorsRepo, type MonitorWithWithheldIncident } from "./MonitorsRepo.ts"
import { toOutboxEvents, toEventIncident } from "./StatusChanges.ts"

/** Opens the incidents of monitors that are still down when their maintenance ends. */
export class WithheldIncidents extends Context.Service<WithheldIncidents>()(
  "@scheduling/server/monitoring/WithheldIncidents",
  {
    make: Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const incidents = yield* IncidentsRepo
      const maintenance = yield* MaintenanceRepo
      const monitors = yield* MonitorsRepo
      const outbox = yield* Outbox

      const releaseSome = Effect.fnUntraced(function* (
        workspaceId: string,
        coverage: MaintenanceCoverage | undefined,
        now: Date
      ) {
        const rows = yield* monitors.listReleasable(workspaceId, coverage, batch)
        if (rows.length === 0) return false
        const at = now.getTime()
        const opened = rows.map((row, ordinal) => incidentOf(row, at, ordinal))
        yield* monitors.updateReleased(opened)
        yield* incidents.insert(opened)
        const byId = new Map(rows.map((row) => [row.monitor_id, row]))
        yield* outbox.announce(
          ...rows.flatMap((row, index) => {
            const incident = opened[index]
            if (incident === undefined) return []
            const { kind, monitor_id, withheld_cause: cause, workspace_id } = row
            const change = {
              from: "up",
              to: "down",
              at,
              cause,
              kind,
              monitor_id,
              workspace_id
            } as const
            return toOutboxEvents(change, row, toEventIncident(incident, byId))
          })
        )
        return rows.length === batch
      }, transaction)

      return {
        release: Effect.gen(function* () {
          const workspaceIds = yield* monitors.findWithholding
          if (workspaceIds.length === 0) return
          const now = yield* DateTime.nowAsDate
          const coverage = yield* maintenance.findCoverage(workspaceIds, now)
          for (const workspaceId of workspaceIds) {
            const own = coverage.get(workspaceId)
            if (own?.everything === true) continue
            while (yield* releaseSome(workspaceId, own, now));
          }
        }).pipe(Effect.withSpan("WithheldIncidents.release"))
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

/** Maximum number of monitors per transaction, to keep it short. */
const batch = 1_000

const incidentOf = (
  { kind, monitor_id, withheld_cause, workspace_id }: MonitorWithWithheldIncident,
  at: number,
  ordinal: number
): NewIncident => ({
  id: makeIdAt(at, ordinal),
  workspace_id,
  subject_kind: kind,
  subject_id: monitor_id,
  subject_name: null,
  opened_at: at,
  closed_at: null,
  cause: withheld_cause
})

/** Opens withheld incidents within a second after their maintenance has ended or was deleted. */
export const WithheldIncidentsLayer: Layer.Layer<never, never, WithheldIncidents> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { release } = yield* WithheldIncidents
      yield* Effect.forkScoped(
        loop("opening incidents after maintenance", release, {
          ...stuckRestartOptions,
          between: () => Effect.sleep("1 second")
        })
      )
    })
  )
