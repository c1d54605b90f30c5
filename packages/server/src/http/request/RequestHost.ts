import { isLoopback } from "../../core/index.ts"

/**
 * Decides which `Host` a request may have, against DNS rebinding. The owner of a page can let the
 * page's name resolve to this service, for example to an address that only the reader of the page
 * can reach. To the browser the service then has the same origin as the page, and only the name in
 * the request differs. Names of this machine itself cannot belong to anybody else. An absent or
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
