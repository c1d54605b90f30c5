import {
  CurrentWorker,
  InvalidWorkerToken,
  WorkerAuthentication
} from "@scheduling/domain/workers/WorkerAuthentication"
import { DateTime, Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { authorizationHeaders, bearerOf } from "../../http/authorization.ts"
import { hashesOf } from "../../platform/bearerKeys.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { isWellFormed } from "../workerToken.ts"
import { WorkerTokensRepo } from "./WorkerTokensRepo.ts"

/** Finds out whose token it is, before the body is read. */
export const WorkerAuthenticationLayer: Layer.Layer<
  WorkerAuthentication,
  never,
  Secrets | WorkerTokensRepo
> = Layer.effect(
  WorkerAuthentication,
  Effect.gen(function* () {
    const tokens = yield* WorkerTokensRepo
    const ring = (yield* Secrets).keys("worker-token")

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
      const [current = token_hash] = hashes
      if (token_hash !== current) yield* tokens.updateHash(token_hash, current)
      return worker
    })

    return WorkerAuthentication.of((answer) =>
      Effect.provideServiceEffect(answer, CurrentWorker, authenticate)
    )
  })
)

const hasExpired = ({ expires_at }: CurrentWorker["Service"], now: Date) =>
  expires_at !== null && expires_at <= now
