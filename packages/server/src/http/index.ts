/**
 * The edge of the service: the HTTP server, the limits of requests and clients, the common error
 * format, and idempotent requests.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { Layer } from "effect"
import { Idempotency } from "./request/Idempotency.ts"
import { ErrorShapeLayer } from "./answers/Errors.ts"
import { DefinedKinds } from "./DefinedKinds.ts"
import { Stopping } from "./Stopping.ts"
import { Waiting } from "./Waiting.ts"

export { type DefinedKind, DefinedKinds, type DefinitionFailure } from "./DefinedKinds.ts"
export { HttpServerLayer, serve } from "./HttpServer.ts"
export {
  allowedMethods,
  givesCredentials,
  requireCanonicalUrl,
  mayBePage,
  noSuchRoute,
  panelOidcCallbackPath,
  panelOidcPath,
  panelPasskeyPaths,
  panelPages,
  panelSessionPath
} from "./Routes.ts"
export { Stopping, untilStopping } from "./Stopping.ts"
export {
  holderOf,
  waitWithoutPermit,
  makeWaitPermits,
  Waiting,
  type WaitingLimits
} from "./Waiting.ts"
export { respond, routeError } from "./answers/Errors.ts"
export { noteRateState } from "./answers/RateLimitHeaders.ts"
export {
  makeStaticResponse,
  type StaticResponse,
  staticResponse
} from "./answers/StaticResponse.ts"
export { uncompressed } from "./answers/compressed.ts"
export { createdIfNew } from "./answers/createdIfNew.ts"
export { withETag } from "./answers/withETag.ts"
export { expiredLinkPage, linkPage } from "./answers/linkPage.ts"
export { withMinimumDuration } from "./answers/withMinimumDuration.ts"
export { issuesIn } from "./answers/validationIssues.ts"
export { authorizationHeaders, bearerOf } from "./authorization.ts"
export { checkRange } from "./checkRange.ts"
export { AccountRates } from "./fairness/AccountRates.ts"
export { AccountShares } from "./fairness/AccountShares.ts"
export { EventQuota } from "./fairness/EventQuota.ts"
export {
  afterEqualPause,
  FairQueue,
  type FairQueueOptions,
  yieldToEventLoop
} from "./fairness/FairQueue.ts"
export { Permits } from "./fairness/Permits.ts"
export { RateLimits } from "./fairness/RateLimits.ts"
export { networkOf } from "./fairness/networkOf.ts"
export { implement } from "./implement.ts"
export { inWorkspace } from "./inWorkspace.ts"
export { Idempotency } from "./request/Idempotency.ts"
export { withExpectedVersion, ifMatchVersion } from "./request/ifMatch.ts"
export { idOfKey } from "./request/idOfKey.ts"
export { recheckIfLate } from "./request/LateBody.ts"
export { originOf, type RequestOrigin, requestOrigin } from "./request/RequestOrigin.ts"
export { noteRoute } from "./request/RequestRecord.ts"
export { httpsCheck } from "./request/httpsCheck.ts"
export { plainBody } from "./request/plainBody.ts"
export { expectSilence } from "./server/NodeServer.ts"
export { listenProblem } from "./server/listenProblem.ts"
export { withRouter } from "./withRouter.ts"

export const HttpLayer = Layer.mergeAll(
  DefinedKinds.layer,
  ErrorShapeLayer,
  Idempotency.layer,
  Waiting.layer
).pipe(Layer.provideMerge(Stopping.layer), Layer.provideMerge(NodeHttpServer.layerHttpServices))
