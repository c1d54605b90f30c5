import { type Principal, principalId } from "@scheduling/domain/auth/Principal"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Clock, Context, Effect, Layer } from "effect"
import { AppConfig, elapsedMs } from "../../core/index.ts"
import { AccountRates, noteRateState } from "../../http/index.ts"

export class RequestRates extends Context.Service<
  RequestRates,
  {
    /**
     * Counts a request, and returns the reason if it is rejected. Requests count for the API key or
     * the user, who can have 200 sessions, and for the account, which can have 10,000 keys. Call it
     * after the credential was verified, so that nobody can exhaust the rate limit of others.
     */
    readonly take: (
      message: object,
      principal: Principal["Service"],
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
      const limits = new AccountRates({ each: rateLimit, account: rateLimit * accountRateFactor })
      return RequestRates.of({
        take: (message, principal, requests) => {
          const rate = limits.take(
            principalId(principal),
            principal.lane,
            elapsedMs(clock),
            requests
          )
          noteRateState(message, rate)
          return rate.isOver ? new RateLimited({ retry_after: rate.seconds }) : undefined
        }
      })
    })
  )
}

/** The rate limit of an account, as a multiple of the rate limit of a key. */
const accountRateFactor = 20
