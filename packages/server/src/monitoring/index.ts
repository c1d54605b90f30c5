/**
 * Monitors of work that runs elsewhere (heartbeat, SSL, process), and the incidents that they
 * open.
 */
import { TlsProbe } from "@scheduling/calls/tls/TlsProbe"
import { Layer } from "effect"
import { whereRunning } from "../core/index.ts"
import { MonitorsCleaningLayer } from "./Cleaning.ts"
import { MonitorEventsRepo } from "./MonitorEventsRepo.ts"
import { MonitorRecords } from "./MonitorRecords.ts"
import { Monitors } from "./Monitors.ts"
import { MonitorsRepo } from "./MonitorsRepo.ts"
import { StatusChanges } from "./StatusChanges.ts"
import { Deadlines, DeadlinesLayer } from "./heartbeat/Deadlines.ts"
import { Heartbeats } from "./heartbeat/Heartbeats.ts"
import { HeartbeatsRepo } from "./heartbeat/HeartbeatsRepo.ts"
import { Pings } from "./heartbeat/Pings.ts"
import { PingUrls } from "./heartbeat/PingUrls.ts"
import { HeartbeatMonitorsHandlers } from "./heartbeat/http.ts"
import { MonitorsHandlers } from "./http.ts"
import { Incidents } from "./incidents/Incidents.ts"
import { IncidentsRepo } from "./incidents/IncidentsRepo.ts"
import { IncidentsHandlers } from "./incidents/http.ts"
import { Processes, SilencesLayer } from "./process/Processes.ts"
import { ProcessMonitors } from "./process/ProcessMonitors.ts"
import { ProcessMonitorsRepo } from "./process/ProcessMonitorsRepo.ts"
import { ProcessReportsRepo } from "./process/ProcessReportsRepo.ts"
import { ProcessMonitorsHandlers } from "./process/http.ts"
import { Looks, LooksLayer } from "./ssl/Looks.ts"
import { SslMonitors } from "./ssl/SslMonitors.ts"
import { SslMonitorsRepo } from "./ssl/SslMonitorsRepo.ts"
import { SslMonitorsHandlers } from "./ssl/http.ts"

export { Deadlines } from "./heartbeat/Deadlines.ts"
export { Processes } from "./process/Processes.ts"
export { setMonitorsRight } from "./setMonitorsRight.ts"
export { pingsOr } from "./heartbeat/pingRoute.ts"

const Handlers = Layer.mergeAll(
  MonitorsHandlers,
  HeartbeatMonitorsHandlers,
  SslMonitorsHandlers,
  ProcessMonitorsHandlers,
  IncidentsHandlers
)

const Services = Layer.mergeAll(
  Monitors.layer,
  Heartbeats.layer,
  SslMonitors.layer,
  ProcessMonitors.layer,
  Looks.layer,
  Incidents.layer
)

const Repositories = Layer.mergeAll(
  MonitorsRepo.layer,
  MonitorEventsRepo.layer,
  HeartbeatsRepo.layer,
  SslMonitorsRepo.layer,
  ProcessMonitorsRepo.layer,
  ProcessReportsRepo.layer,
  IncidentsRepo.layer
)

/** Nodes with `RUNNER=off` check nothing and open no incidents. */
const RunnerLayer = whereRunning(Layer.mergeAll(DeadlinesLayer, LooksLayer, SilencesLayer))

export const MonitoringLayer = Layer.mergeAll(Handlers, RunnerLayer, MonitorsCleaningLayer).pipe(
  Layer.provide(Services),
  Layer.provideMerge(Layer.mergeAll(Deadlines.layer, Pings.layer, Processes.layer)),
  Layer.provide([MonitorRecords.layer, PingUrls.layer, TlsProbe.layer]),
  Layer.provide(StatusChanges.layer),
  Layer.provide(Repositories)
)
