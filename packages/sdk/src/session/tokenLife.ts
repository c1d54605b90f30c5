/**
 * How long before its expiry a token is renewed, so that it does not expire while the request is
 * queued or in transit.
 */
const earlyMs = 30_000

/**
 * Returns when to renew a new token. Uses the local clock, because the service's clock may differ.
 */
export const renewalTimeOfNewToken = (expiresInSeconds: number, now: number): number => {
  const lifeMs = expiresInSeconds * 1000
  return now + lifeMs - Math.min(earlyMs, lifeMs / 10)
}

/**
 * Returns when to renew a stored token, according to its `exp`. Without `exp`, it is renewed only
 * after a 401.
 */
export const renewalTimeOfStoredToken = (accessToken: string): number => {
  try {
    const payload = (accessToken.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")
    const claims: unknown = JSON.parse(atob(payload))
    const exp = typeof claims === "object" && claims !== null && "exp" in claims && claims.exp
    return typeof exp === "number" ? exp * 1000 - earlyMs : Infinity
  } catch {
    return Infinity
  }
}

/**
 * A refresh token works once, and again for 10 s after its first use. A retry must happen within
 * that time, or it ends the session.
 */
export const refreshLimits = { timeoutMs: 4_000, maxRetries: 1 } as const
