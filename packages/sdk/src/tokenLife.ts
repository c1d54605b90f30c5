/** So that a token does not expire on its way, nor while a slow request waits for its turn. */
const earlyMs = 30_000

/** When to renew a token that was issued just now, by our own clock: the service's may differ. */
export const renewAt = (expiresInSeconds: number, now: number): number => {
  const lifeMs = expiresInSeconds * 1000
  return now + lifeMs - Math.min(earlyMs, lifeMs / 10)
}

/** When to renew a token that was kept, by its `exp`. Never where it says none: then a 401 tells. */
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
 * A refresh token works once, and again for 10 s after its first use: a second attempt has to fall
 * within them, or it ends the session.
 */
export const refreshLimits = { timeoutMs: 4_000, maxRetries: 1 } as const
