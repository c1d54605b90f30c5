/**
 * Incidents: outages of monitors and tasks that keep failing, from the first failure to the
 * recovery, and what people do about them.
 */
import { Layer } from "effect"
import { IncidentsHandlers } from "./http.ts"
import { Incidents } from "./Incidents.ts"
import { IncidentsRepo } from "./IncidentsRepo.ts"
import { IncidentSubscribers } from "./IncidentSubscribers.ts"
import { TimelineRepo } from "./TimelineRepo.ts"

export {
  type IncidentEnd,
  type IncidentRow,
  IncidentsRepo,
  type NewIncident
} from "./IncidentsRepo.ts"
export { IncidentSubscribers } from "./IncidentSubscribers.ts"
export { awaitRoutingTurn } from "./routingTurn.ts"

export const IncidentsLayer = IncidentsHandlers.pipe(
  Layer.provide(Incidents.layer),
  Layer.provide(TimelineRepo.layer),
  Layer.provideMerge(Layer.mergeAll(IncidentsRepo.layer, IncidentSubscribers.layer))
)
