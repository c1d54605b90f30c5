import { DateTime, Layer } from "effect"
import { IncidentsRepo } from "../../../src/incidents/IncidentsRepo.ts"
import { MonitorEventsRepo } from "../../../src/monitors/MonitorEventsRepo.ts"
import { MonitorsRepo } from "../../../src/monitors/MonitorsRepo.ts"
import { Processes } from "../../../src/monitors/process/Processes.ts"
import { ProcessMonitorsRepo } from "../../../src/monitors/process/ProcessMonitorsRepo.ts"
import { ProcessReportsRepo } from "../../../src/monitors/process/ProcessReportsRepo.ts"
import { StatusChanges } from "../../../src/monitors/StatusChanges.ts"
import { Outbox } from "../../../src/outbox/Outbox.ts"
import { Ids } from "../../../src/platform/Ids.ts"
import { Signals } from "../../../src/signals/Signals.ts"
import { StoreClock } from "../../../src/sql/StoreClock.ts"

/** As on a node that runs, by the clock of the test. */
export const nodeWith = <R>(reports: Layer.Layer<ProcessReportsRepo, never, R>) =>
  Processes.layer.pipe(
    Layer.provide(StatusChanges.layer),
    Layer.provide([
      IncidentsRepo.layer,
      MonitorEventsRepo.layer,
      MonitorsRepo.layer,
      Outbox.layer,
      ProcessMonitorsRepo.layer,
      reports
    ]),
    Layer.provide([Ids.layer, Signals.layer, Layer.succeed(StoreClock, () => DateTime.nowAsDate)])
  )

export const node = nodeWith(ProcessReportsRepo.layer)
