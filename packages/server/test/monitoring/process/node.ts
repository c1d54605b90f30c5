import { DateTime, Layer } from "effect"
import { IncidentsRepo } from "../../../src/incidents/IncidentsRepo.ts"
import { MaintenanceRepo } from "../../../src/incidents/maintenance/MaintenanceRepo.ts"
import { MonitorEventsRepo } from "../../../src/monitoring/MonitorEventsRepo.ts"
import { MonitorsRepo } from "../../../src/monitoring/MonitorsRepo.ts"
import { Processes } from "../../../src/monitoring/process/Processes.ts"
import { ProcessMonitorsRepo } from "../../../src/monitoring/process/ProcessMonitorsRepo.ts"
import { ProcessReportsRepo } from "../../../src/monitoring/process/ProcessReportsRepo.ts"
import { StatusChanges } from "../../../src/monitoring/StatusChanges.ts"
import { Outbox } from "../../../src/events/Outbox.ts"
import { Ids } from "../../../src/core/Ids.ts"
import { Signals } from "../../../src/events/Signals.ts"
import { StoreClock } from "../../../src/store/StoreClock.ts"

/** One node's service, on the test's clock. */
export const processNodeLayerWith = <R>(reports: Layer.Layer<ProcessReportsRepo, never, R>) =>
  Processes.layer.pipe(
    Layer.provide(StatusChanges.layer),
    Layer.provide([
      IncidentsRepo.layer,
      MaintenanceRepo.layer,
      MonitorEventsRepo.layer,
      MonitorsRepo.layer,
      Outbox.layer,
      ProcessMonitorsRepo.layer,
      reports
    ]),
    Layer.provide([Ids.layer, Signals.layer, Layer.succeed(StoreClock, () => DateTime.nowAsDate)])
  )

export const processNodeLayer = processNodeLayerWith(ProcessReportsRepo.layer)
