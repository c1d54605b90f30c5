import { isLoopback } from "../../core/index.ts"

/**
 * Checks the `Host` header, against DNS rebinding. An attacker can let the name of their page
 * resolve to this service, for example to an address that only the visitor can reach. For the
 * browser the service then has the same origin as the page, and only the host name in the request
 * differs. Names of this machine itself cannot belong to anybody else. A request with an absent or
 * empty `Host` does not come from a browser.
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
