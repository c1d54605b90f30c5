/** Workers, and the protocol between their agents and the service. */
import { RoutedWorkerApi } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { onlyOnRunnerNodes } from "../core/index.ts"
import { Workers } from "./Workers.ts"
import { WorkersRepo } from "./WorkersRepo.ts"
import { WorkersHandlers } from "./http.ts"
import { OfflineWorkersLayer, AgentSessions } from "./protocol/AgentSessions.ts"
import { AgentSessionsRepo } from "./protocol/AgentSessionsRepo.ts"
import { Claims } from "./protocol/Claims.ts"
import { Dispatch } from "./protocol/Dispatch.ts"
import { WorkerProtocolHandlers } from "./protocol/http.ts"
import { Results } from "./protocol/Results.ts"
import { WorkerAdmission } from "./protocol/WorkerAdmission.ts"
import { WorkerAuthenticationLayer } from "./protocol/WorkerAuthentication.ts"
import { WorkerTokensRepo } from "./protocol/WorkerTokensRepo.ts"

export { withClaimRoute } from "./protocol/claimRoute.ts"

const ProtocolRoutes = HttpApiBuilder.layer(RoutedWorkerApi).pipe(
  Layer.provide(WorkerProtocolHandlers),
  Layer.provide(WorkerAuthenticationLayer)
)

/** Nodes with `RUNNER=off` do not announce offline workers. */
const RunnerLayer = onlyOnRunnerNodes(OfflineWorkersLayer)

export const WorkersLayer = Layer.mergeAll(WorkersHandlers, ProtocolRoutes, RunnerLayer).pipe(
  Layer.provide([Workers.layer, Results.layer]),
  Layer.provideMerge(Layer.mergeAll(Claims.layer, WorkerAdmission.layer)),
  Layer.provide(AgentSessions.layer),
  Layer.provide(Dispatch.layer),
  Layer.provideMerge(WorkerTokensRepo.layer),
  Layer.provide([WorkersRepo.layer, AgentSessionsRepo.layer])
)
