import type { Requester } from "@scheduling/domain/auth/Principal"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Clock, Context, Effect, Layer } from "effect"
import { AppConfig, elapsedMs } from "../../core/index.ts"
import { AccountRateLimits, recordRateLimitState } from "../../http/index.ts"

export class RequestRates extends Context.Service<
  RequestRates,
  {
    /**
     * Counts a request against the rate limits. If the request exceeds one of them, returns the
     * error. A request counts for its API key, its user (who can have 200 sessions) or its trigger
     * URL, and also for the account (which can have 10,000 keys). Call this after verifying the
     * credential, so that nobody can use up the limits of others.
     */
    readonly take: (
      message: object,
      requester: Requester,
      requests?: number
    ) => RateLimited | undefined
  }
>()("@scheduling/server/accounts/auth/RequestRates") {
  static readonly layer: Layer.Layer<RequestRates, never, AppConfig> = Layer.effect(
    RequestRates,
    Effect.gen(function* () {
      const { rateLimit } = yield* AppConfig
      if (rateLimit === 0) return { take: () => undefined }
      const clock = yield* Clock.Clock
      const limits = new AccountRateLimits({
        each: rateLimit,
        account: rateLimit * accountRateFactor
      })
      return RequestRates.of({
        take: (message, { id, lane }, requests) => {
          const rate = limits.take(id, lane, elapsedMs(clock), requests)
          recordRateLimitState(message, rate)
          return rate.isOver ? new RateLimited({ retry_after: rate.seconds }) : undefined
        }
      })
    })
  )
}

/** An account's rate limit, as a multiple of a key's rate limit. */
const accountRateFactor = 20
