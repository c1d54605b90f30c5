/** Names of this machine itself, as `HOST` or a request's `Host` has them. */
export const isLoopback = (name: string): boolean =>
  /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(name)

/** What is wrong with an item of `ALLOWED_HOSTS`, or nothing. */
export const hostProblem = (host: string): string | undefined =>
  canonical(host) === host.toLowerCase() && !host.includes("*")
    ? undefined
    : `"${host}" is not a name or address without a port, such as api.example.com or [fd00::1]`

/**
 * Which `Host` requests may have. A page whose owner lets its name resolve to this service, to an
 * address that only its reader can reach say, is of the service's own origin to a browser (DNS
 * rebinding); the name in the request is all that gives it away. Names of the machine itself are
 * nobody else's. An absent or empty one comes from no browser.
 */
export const hostCheck = (
  allowed: ReadonlyArray<string> | undefined
): ((host: string | undefined) => boolean) => {
  if (allowed === undefined) return () => true
  const names = new Set(allowed.map((name) => name.toLowerCase()))
  let lastAllowed: string | undefined
  return (host) => {
    if (host === lastAllowed || host === undefined || host === "") return true
    const name = host.replace(/:\d*$/, "").toLowerCase()
    if (!names.has(name) && !isLoopback(name)) return false
    lastAllowed = host
    return true
  }
}

// ---------------------------------------------------------------------------

const canonical = (host: string): string | undefined =>
  URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : undefined
