import { type RateState, windowSeconds } from "../fairness/RateLimits.ts"

/**
 * A property of the request rather than a map entry: a long-lived map would move requests to the
 * garbage collector's old generation.
 */
const rate = Symbol("the rate limit state of a request")

interface Counted {
  [rate]?: RateState
}

export const noteRateState = (request: object, known: RateState): void => {
  ;(request as Counted)[rate] = known
}

/**
 * Returns the headers of draft-ietf-httpapi-ratelimit-headers-11. Undefined for a request without a
 * credential.
 */
export const rateLimitHeaders = (perMinute: number) => {
  const policy = `"default";q=${perMinute};w=${windowSeconds}`
  return (request: object): Readonly<Record<string, string>> | undefined => {
    const known = (request as Counted)[rate]
    return known === undefined
      ? undefined
      : {
          "ratelimit-policy": policy,
          ratelimit: `"default";r=${known.remaining};t=${known.seconds}`
        }
  }
}
