import {
  type CurrentWorker,
  InvalidWorkerToken
} from "@scheduling/domain/workers/WorkerAuthentication"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Clock, Context, DateTime, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { AppConfig, elapsedMs, bearerKeyHashes, Secrets } from "../../core/index.ts"
import { authorizationHeaders, bearerTokenOf, RateLimits } from "../../http/index.ts"
import { isWellFormed } from "../workerToken.ts"
import { type WorkerOfToken, WorkerTokensRepo } from "./WorkerTokensRepo.ts"

type Find<Known extends WorkerOfToken> = (
  hashes: ReadonlyArray<string>
) => Effect.Effect<Option.Option<Known>>

/** Lets the requests of agents in: checks their tokens and their rate. */
export class WorkerAdmission extends Context.Service<
  WorkerAdmission,
  {
    /** Checks the token and counts the request against the rate limit. */
    readonly admit: <Known extends WorkerOfToken>(
      request: HttpServerRequest.HttpServerRequest,
      find: Find<Known>
    ) => Effect.Effect<Known, InvalidWorkerToken | RateLimited>
    readonly check: <Known extends WorkerOfToken>(
      request: HttpServerRequest.HttpServerRequest,
      find: Find<Known>
    ) => Effect.Effect<Known, InvalidWorkerToken>
  }
>()("@scheduling/server/workers/protocol/WorkerAdmission") {
  static readonly layer: Layer.Layer<
    WorkerAdmission,
    never,
    AppConfig | Secrets | WorkerTokensRepo
  > = Layer.effect(
    WorkerAdmission,
    Effect.gen(function* () {
      const tokens = yield* WorkerTokensRepo
      const ring = (yield* Secrets).keys("worker-token")
      const clock = yield* Clock.Clock
      const { rateLimit } = yield* AppConfig
      const limits = rateLimit === 0 ? undefined : new RateLimits(rateLimit * keyLimitFactor)

      const check = Effect.fnUntraced(function* <Known extends WorkerOfToken>(
        request: HttpServerRequest.HttpServerRequest,
        find: Find<Known>
      ) {
        const [header = "", ...others] = authorizationHeaders(request)
        const token = others.length === 0 ? bearerTokenOf(header) : undefined
        if (token === undefined || !isWellFormed(token)) return yield* new InvalidWorkerToken()
        const hashes = bearerKeyHashes(ring, token)
        const found = yield* find(hashes)
        const now = yield* DateTime.nowAsDate
        if (Option.isNone(found) || hasExpired(found.value.worker, now)) {
          return yield* new InvalidWorkerToken()
        }
        const { token_hash } = found.value
        const [current = token_hash] = hashes
        if (token_hash !== current) yield* tokens.updateHash(token_hash, current)
        return found.value
      })

      const admit = Effect.fnUntraced(function* <Known extends WorkerOfToken>(
        request: HttpServerRequest.HttpServerRequest,
        find: Find<Known>
      ) {
        const known = yield* check(request, find)
        const usage = limits?.take(known.worker.id, elapsedMs(clock))
        if (usage?.isOver) return yield* new RateLimited({ retry_after: usage.seconds })
        return known
      })

      return WorkerAdmission.of({ admit, check })
    })
  )
}

/**
 * The rate limit of a worker, as a multiple of the rate limit of an API key. A busy agent sends
 * about a hundred requests per second.
 */
const keyLimitFactor = 20

const hasExpired = ({ expires_at }: CurrentWorker["Service"], now: Date) =>
  expires_at !== null && expires_at <= now
