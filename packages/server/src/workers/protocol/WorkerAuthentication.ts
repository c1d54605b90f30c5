import {
  CurrentWorker,
  InvalidWorkerToken,
  WorkerAuthentication
} from "@scheduling/domain/workers/WorkerAuthentication"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Clock, DateTime, Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../../config/Config.ts"
import { RateLimits } from "../../fairness/RateLimits.ts"
import { authorizationHeaders, bearerOf } from "../../http/authorization.ts"
import { hashesOf } from "../../platform/bearerKeys.ts"
import { elapsedMs } from "../../platform/elapsed.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { isWellFormed } from "../workerToken.ts"
import { WorkerTokensRepo } from "./WorkerTokensRepo.ts"

/** Finds out whose token it is, before the body is read. */
export const WorkerAuthenticationLayer: Layer.Layer<
  WorkerAuthentication,
  never,
  AppConfig | Secrets | WorkerTokensRepo
> = Layer.effect(
  WorkerAuthentication,
  Effect.gen(function* () {
    const tokens = yield* WorkerTokensRepo
    const ring = (yield* Secrets).keys("worker-token")
    const clock = yield* Clock.Clock
    const { rateLimit } = yield* AppConfig
    const limits = rateLimit === 0 ? undefined : new RateLimits(rateLimit * timesThatOfKeys)

    const authenticate = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const [header = "", ...others] = authorizationHeaders(request)
      const token = others.length === 0 ? bearerOf(header) : undefined
      if (token === undefined || !isWellFormed(token)) return yield* new InvalidWorkerToken()
      const hashes = hashesOf(ring, token)
      const found = yield* tokens.findByHash(hashes)
      const now = yield* DateTime.nowAsDate
      if (Option.isNone(found) || hasExpired(found.value.worker, now)) {
        return yield* new InvalidWorkerToken()
      }
      const { token_hash, worker } = found.value
      const standing = limits?.take(worker.id, elapsedMs(clock))
      if (standing?.isOver) return yield* new RateLimited({ retry_after: standing.seconds })
      const [current = token_hash] = hashes
      if (token_hash !== current) yield* tokens.updateHash(token_hash, current)
      return worker
    })

    return WorkerAuthentication.of((answer) =>
      Effect.provideServiceEffect(answer, CurrentWorker, authenticate)
    )
  })
)

/** A busy agent claims and hands in results about a hundred times per second. */
const timesThatOfKeys = 20

const hasExpired = ({ expires_at }: CurrentWorker["Service"], now: Date) =>
  expires_at !== null && expires_at <= now
