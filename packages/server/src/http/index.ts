/**
 * The edge of the service: the HTTP server, the limits of requests and clients, the common error
 * format, and idempotent requests.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { Layer } from "effect"
import { Idempotency } from "./request/Idempotency.ts"
import { ErrorShapeLayer } from "./answers/Errors.ts"
import { DefinedKinds } from "./DefinedKinds.ts"
import { Shutdown } from "./Shutdown.ts"
import { WaitingRequests } from "./WaitingRequests.ts"

export { type DefinedKind, DefinedKinds, type DefinitionFailure } from "./DefinedKinds.ts"
export { HttpServerLayer, serveRoutes } from "./HttpServer.ts"
export {
  allowedMethods,
  acceptsDataWithoutCredential,
  requireCanonicalUrl,
  mayBePanelPage,
  failWithRouteNotFound,
  panelOidcCallbackPath,
  panelLinkPath,
  panelProxyPath,
  panelOidcPath,
  panelPasskeyPaths,
  panelPages,
  panelSessionPath
} from "./Routes.ts"
export { Shutdown, stopAtShutdown } from "./Shutdown.ts"
export {
  waitPermitHolderOf,
  waitWithoutPermit,
  makeWaitPermits,
  WaitingRequests,
  type WaitingLimits
} from "./WaitingRequests.ts"
export { respondWithError, unknownRouteError } from "./answers/Errors.ts"
export { recordRateLimitState } from "./answers/RateLimitHeaders.ts"
export {
  makeStaticResponse,
  type StaticResponse,
  precompressedResponse
} from "./answers/StaticResponse.ts"
export { preventCompression } from "./answers/compressResponse.ts"
export { upsertResponse } from "./answers/upsertResponse.ts"
export { withETag } from "./answers/withETag.ts"
export { expiredLinkPage, linkPage } from "./answers/linkPage.ts"
export { withMinimumDuration } from "./answers/withMinimumDuration.ts"
export { issuesIn } from "./answers/validationIssues.ts"
export { authorizationHeaders, bearerTokenOf } from "./authorization.ts"
export { checkTimeRange } from "./checkTimeRange.ts"
export { AccountRateLimits } from "./fairness/AccountRateLimits.ts"
export { AccountShares } from "./fairness/AccountShares.ts"
export { MinuteQuota } from "./fairness/MinuteQuota.ts"
export {
  pauseForSameDuration,
  FairQueue,
  type FairQueueOptions,
  yieldToEventLoop
} from "./fairness/FairQueue.ts"
export { ApproximateQuota } from "./fairness/ApproximateQuota.ts"
export { RateLimits } from "./fairness/RateLimits.ts"
export { networkOf } from "./fairness/networkOf.ts"
export { implement } from "./implement.ts"
export { inWorkspace } from "./inWorkspace.ts"
export { Idempotency } from "./request/Idempotency.ts"
export { withExpectedVersion, ifMatchVersion } from "./request/ifMatch.ts"
export { idOfKey } from "./request/idOfKey.ts"
export { recheckAccessAfterBody } from "./request/recheckAccessAfterBody.ts"
export { originOf, type RequestOrigin, requestOrigin } from "./request/RequestOrigin.ts"
export { recordRoute } from "./request/RequestRecorder.ts"
export { isHttpsRequest } from "./request/isHttpsRequest.ts"
export { requestBaseUrl } from "./request/requestBaseUrl.ts"
export { readBodyStart } from "./request/readBodyStart.ts"
export { allowSilence } from "./server/NodeServer.ts"
export { listenProblem } from "./server/listenProblem.ts"
export { withRouter } from "./withRouter.ts"

export const HttpLayer = Layer.mergeAll(
  DefinedKinds.layer,
  ErrorShapeLayer,
  Idempotency.layer,
  WaitingRequests.layer
).pipe(Layer.provideMerge(Shutdown.layer), Layer.provideMerge(NodeHttpServer.layerHttpServices))
