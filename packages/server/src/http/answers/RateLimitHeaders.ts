import { type RateLimitState, rateLimitWindowSeconds } from "../fairness/RateLimits.ts"

/**
 * The key of a property of the request. A property is used instead of a map, because a long-lived
 * map would move requests to the garbage collector's old generation.
 */
const rate = Symbol("the rate limit state of a request")

interface Counted {
  [rate]?: RateLimitState
}

/** Stores the state of the rate limit on the request, for the headers of its response. */
export const recordRateLimitState = (request: object, known: RateLimitState): void => {
  ;(request as Counted)[rate] = known
}

/**
 * Creates the function that returns the headers of draft-ietf-httpapi-ratelimit-headers-11. The
 * headers are undefined for a request without a credential.
 */
export const rateLimitHeaders = (perMinute: number) => {
  const policy = `"default";q=${perMinute};w=${rateLimitWindowSeconds}`
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
