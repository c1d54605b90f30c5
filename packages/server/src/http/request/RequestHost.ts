import { isLoopback } from "../../core/index.ts"

/**
 * Checks the `Host` header to prevent DNS rebinding. An attacker can make the name of a page
 * resolve to this service, for example to an address that only the visitor can reach. The browser
 * then considers the service and the page to be the same origin, and only the host name in the
 * request differs. Loopback names are allowed, because they cannot belong to an attacker. A request
 * with an absent or empty `Host` is allowed, because it does not come from a browser.
 */
export const hostCheck = (
  allowed: ReadonlyArray<string> | undefined,
  publicUrl: string | undefined
): ((host: string | undefined) => boolean) => {
  if (allowed === undefined) return () => true
  const names = new Set(allowed.map((name) => name.toLowerCase()))
  if (publicUrl !== undefined) names.add(new URL(publicUrl).hostname)
  let lastAllowed: string | undefined
  return (host) => {
    if (host === lastAllowed || host === undefined || host === "") return true
    const name = host.replace(/:\d*$/, "").toLowerCase()
    if (!names.has(name) && !isLoopback(name)) return false
    lastAllowed = host
    return true
  }
}
