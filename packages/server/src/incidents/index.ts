/**
 * Incidents: outages of monitors and tasks that keep failing, from the first failure to the
 * recovery, and what people do about them.
 */
import { Layer } from "effect"
import { IncidentsHandlers } from "./http.ts"
import { Incidents } from "./Incidents.ts"
import { IncidentsRepo } from "./IncidentsRepo.ts"
import { IncidentSubscribers } from "./IncidentSubscribers.ts"
import { MaintenanceHandlers } from "./maintenance/http.ts"
import { Maintenance } from "./maintenance/Maintenance.ts"
import { MaintenanceRepo } from "./maintenance/MaintenanceRepo.ts"
import { TimelineRepo } from "./TimelineRepo.ts"

export { Incidents } from "./Incidents.ts"
export {
  type IncidentEnd,
  type IncidentRow,
  IncidentsRepo,
  type NewIncident
} from "./IncidentsRepo.ts"
export { IncidentSubscribers } from "./IncidentSubscribers.ts"
export { type Coverage, isCovered } from "./maintenance/Coverage.ts"
export { MaintenanceRepo } from "./maintenance/MaintenanceRepo.ts"
export { awaitRoutingTurn } from "./routingTurn.ts"

export const IncidentsLayer = Layer.mergeAll(IncidentsHandlers, MaintenanceHandlers).pipe(
  Layer.provide(Maintenance.layer),
  Layer.provideMerge(Incidents.layer),
  Layer.provide(TimelineRepo.layer),
  Layer.provideMerge(
    Layer.mergeAll(IncidentsRepo.layer, IncidentSubscribers.layer, MaintenanceRepo.layer)
  )
)
