/** Health, metrics, documentation pages, housekeeping, and the operator's commands. */
import { Api } from "@scheduling/domain/Api"
import { Layer } from "effect"
import { onlyOnRunnerNodes } from "../core/index.ts"
import { HousekeepingLayer } from "./Housekeeping.ts"
import { HousekeepingRepo } from "./HousekeepingRepo.ts"
import { ResealerLayer } from "./Resealer.ts"
import { SealedRepo } from "./SealedRepo.ts"
import { SelfWatch } from "./SelfWatch.ts"
import { TimeCorrectorLayer } from "./TimeCorrector.ts"
import { docsLayer } from "./docs.ts"
import { echoLayer } from "./echo.ts"
import { SystemHandlers } from "./http.ts"
import { metricsRouteLayer } from "./metrics.ts"
import { ProcessMetersLayer } from "./processMeters.ts"

export { backupParts, copyIfExists } from "./operator/Backup.ts"
export { ControlSocketLayer } from "./operator/ControlSocket.ts"
export { moveStore } from "./operator/Move.ts"
export { runCommand } from "./operator/runCommand.ts"
export { MetricsServerLayer } from "./metrics.ts"

/** Nodes with `RUNNER=off` report a stepped clock, but do not correct times. */
const RunnerLayer = onlyOnRunnerNodes(TimeCorrectorLayer)

export const OperationsLayer = Layer.mergeAll(
  SystemHandlers,
  docsLayer(Api),
  echoLayer,
  metricsRouteLayer,
  HousekeepingLayer,
  ResealerLayer,
  ProcessMetersLayer,
  RunnerLayer
).pipe(Layer.provide(SelfWatch.layer), Layer.provide([HousekeepingRepo.layer, SealedRepo.layer]))
