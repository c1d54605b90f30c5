/** Health, metrics, documentation pages, housekeeping, and the commands of operators. */
import { Api } from "@scheduling/domain/Api"
import { Layer } from "effect"
import { whereRunning } from "../core/index.ts"
import { HousekeepingLayer } from "./Housekeeping.ts"
import { HousekeepingRepo } from "./HousekeepingRepo.ts"
import { ResealingLayer } from "./Resealing.ts"
import { SealedRepo } from "./SealedRepo.ts"
import { SelfWatch } from "./SelfWatch.ts"
import { SettingRightLayer } from "./SettingRight.ts"
import { docsLayer } from "./docs.ts"
import { echoLayer } from "./echo.ts"
import { SystemHandlers } from "./http.ts"
import { metricsRouteLayer } from "./metrics.ts"
import { ProcessMetersLayer } from "./processMeters.ts"

export { backedUp, copy } from "./operator/Backup.ts"
export { ControlSocketLayer, socketIn } from "./operator/ControlSocket.ts"
export { move } from "./operator/Move.ts"
export { askServer } from "./operator/askServer.ts"
export { runCommand } from "./operator/runCommand.ts"
export { MetricsServerLayer } from "./metrics.ts"

/** Nodes with `RUNNER=off` only report that the clock was stepped. */
const RunnerLayer = whereRunning(SettingRightLayer)

export const OperationsLayer = Layer.mergeAll(
  SystemHandlers,
  docsLayer(Api),
  echoLayer,
  metricsRouteLayer,
  HousekeepingLayer,
  ResealingLayer,
  ProcessMetersLayer,
  RunnerLayer
).pipe(Layer.provide(SelfWatch.layer), Layer.provide([HousekeepingRepo.layer, SealedRepo.layer]))
