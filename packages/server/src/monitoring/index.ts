/**
 * Monitors watch work that runs outside of the service, and report when its status changes. Each
 * kind of monitor has its own folder and is listed in `monitorKinds.ts`. `MonitorKind.ts` defines
 * what a kind consists of.
 */
import { TargetChecks } from "@scheduling/calls/probes/TargetChecks"
import { Layer } from "effect"
import { onlyOnRunnerNodes } from "../core/index.ts"
import { stopAtShutdown } from "../http/index.ts"
import { MonitorCleanupLayer } from "./MonitorCleanup.ts"
import { MonitorEventsRepo } from "./MonitorEventsRepo.ts"
import { MonitorListRepo } from "./MonitorListRepo.ts"
import { Monitors } from "./Monitors.ts"
import { MonitorsRepo } from "./MonitorsRepo.ts"
import { StatusChanges } from "./StatusChanges.ts"
import { MonitorsHandlers } from "./http.ts"
import { CheckingLayer, Prober } from "./checks/index.ts"
import { makeProber } from "./makeProber.ts"
import { MonitorTests } from "./MonitorTests.ts"
import { PlaceProbes } from "./places/PlaceProbes.ts"
import { PlacesRepo } from "./places/PlacesRepo.ts"
import { Uptime } from "./uptime/Uptime.ts"
import { WithheldIncidents, WithheldIncidentsLayer } from "./WithheldIncidents.ts"
import { UptimeRepo } from "./uptime/UptimeRepo.ts"
import { monitorKinds } from "./monitorKinds.ts"

export { Deadlines } from "./heartbeat/Deadlines.ts"
export { Processes } from "./process/Processes.ts"
export { PlaceProbes } from "./places/PlaceProbes.ts"
export { probesSignal } from "./places/probesSignal.ts"
export { correctMonitorTimesAfterClockSetBack } from "./correctMonitorTimesAfterClockSetBack.ts"
export { Uptime } from "./uptime/Uptime.ts"
export { handlePingsOr } from "./heartbeat/pingRoute.ts"

const [first, ...others] = monitorKinds

const KindsLayer = Layer.mergeAll(first.layer, ...others.map(({ layer }) => layer))

const ListLayer = MonitorsHandlers.pipe(
  Layer.provide(Monitors.layer),
  Layer.provideMerge(Uptime.layer),
  Layer.provide(MonitorListRepo.layer)
)

export const MonitoringLayer = Layer.mergeAll(
  KindsLayer,
  PlaceProbes.layer,
  CheckingLayer,
  ListLayer,
  MonitorCleanupLayer,
  onlyOnRunnerNodes(
    stopAtShutdown(WithheldIncidentsLayer.pipe(Layer.provide(WithheldIncidents.layer)))
  )
).pipe(
  Layer.provide([
    Layer.effect(Prober, makeProber).pipe(Layer.provide(TargetChecks.layer)),
    MonitorTests.layer,
    StatusChanges.layer
  ]),
  Layer.provide([MonitorsRepo.layer, MonitorEventsRepo.layer, PlacesRepo.layer, UptimeRepo.layer])
)
