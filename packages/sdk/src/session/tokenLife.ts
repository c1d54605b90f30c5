/**
 * A margin, so that a token expires neither on its way nor while a slow request waits for its turn.
 */
const earlyMs = 30_000

/**
 * When to renew a token that was just issued. It uses our own clock, because the service's may
 * differ.
 */
export const renewAt = (expiresInSeconds: number, now: number): number => {
  const lifeMs = expiresInSeconds * 1000
  return now + lifeMs - Math.min(earlyMs, lifeMs / 10)
}

/** When to renew a token that was kept, by its `exp`. Never if it has none: then a 401 tells. */
export const renewKeptAt = (accessToken: string): number => {
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
 * A refresh token works once, and again for 10 s after its first use. A second attempt must fall
 * within that time, or it ends the session.
 */
export const refreshLimits = { timeoutMs: 4_000, maxRetries: 1 } as const
