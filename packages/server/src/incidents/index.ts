/** Incidents: outages of monitors, from the first failure to the recovery. */
import { Layer } from "effect"
import { IncidentsHandlers } from "./http.ts"
import { Incidents } from "./Incidents.ts"
import { IncidentsRepo } from "./IncidentsRepo.ts"

export { IncidentsRepo, type NewIncident } from "./IncidentsRepo.ts"

export const IncidentsLayer = IncidentsHandlers.pipe(
  Layer.provide(Incidents.layer),
  Layer.provideMerge(IncidentsRepo.layer)
)
