/**
 * Incidents: the problems of monitors that are down and of tasks that keep failing, from the first
 * failure to the recovery, and how people act on them.
 */
import { Layer } from "effect"
import { IncidentsHandlers } from "./http.ts"
import { Incidents } from "./Incidents.ts"
import { IncidentsRepo } from "./IncidentsRepo.ts"
import { IncidentSubscribers } from "./IncidentSubscribers.ts"
import { MaintenanceHandlers } from "./maintenance/http.ts"
import { Maintenance } from "./maintenance/Maintenance.ts"
import { MaintenanceRepo } from "./maintenance/MaintenanceRepo.ts"
import { SubjectsRepo } from "./SubjectsRepo.ts"
import { TimelineRepo } from "./TimelineRepo.ts"

export { makeDependencies } from "./dependencies/dependencies.ts"
export { dependsOnColumn } from "./dependencies/dependsOnColumn.ts"
export { findSuppressors } from "./dependencies/findSuppressors.ts"
export { findRecordIds, unknownIdIssues } from "./findRecordIds.ts"
export { Incidents } from "./Incidents.ts"
export {
  type IncidentEnd,
  type IncidentRow,
  IncidentsRepo,
  type NewIncident,
  type Suppression
} from "./IncidentsRepo.ts"
export { IncidentSubscribers } from "./IncidentSubscribers.ts"
export {
  type MaintenanceCoverage,
  isCoveredByMaintenance
} from "./maintenance/MaintenanceCoverage.ts"
export { MaintenanceRepo } from "./maintenance/MaintenanceRepo.ts"
export { awaitRoutingTurn } from "./routingTurn.ts"
export { keyFinder, SubjectsRepo } from "./SubjectsRepo.ts"

export const IncidentsLayer = Layer.mergeAll(IncidentsHandlers, MaintenanceHandlers).pipe(
  Layer.provide(Maintenance.layer),
  Layer.provideMerge(Incidents.layer),
  Layer.provide(TimelineRepo.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      IncidentsRepo.layer,
      IncidentSubscribers.layer,
      MaintenanceRepo.layer,
      SubjectsRepo.layer
    )
  )
)
