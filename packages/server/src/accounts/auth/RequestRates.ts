import { type Principal, principalId } from "@scheduling/domain/auth/Principal"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Clock, Context, Effect, Layer } from "effect"
import { AppConfig, elapsedMs } from "../../core/index.ts"
import { AccountRates, noteRateState } from "../../http/index.ts"

/** Limits the requests of each credential on this node. */
export class RequestRates extends Context.Service<
  RequestRates,
  {
    /**
     * Counts a request for its API key or, because somebody may have 200 sessions, its user, and
     * for the account, which may have 10,000 keys. Returns the reason if it is refused. Call it
     * after the credential is verified, so that nobody can use up somebody else's rate.
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
      const limits = new AccountRates({ each: rateLimit, account: rateLimit * keysOfAccount })
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

/** An account with all its keys may make as many requests as this number of keys. */
const keysOfAccount = 20
