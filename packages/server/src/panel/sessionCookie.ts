import { refreshTokenSeconds } from "@scheduling/domain/auth/TokenPair"
import { panelSessionPath } from "../http/index.ts"

/** The headers by which browsers describe the page that sent a request. */
export type PageHeaders = Readonly<Record<string, string | undefined>>

/**
 * Returns whether the request was sent by a page of this origin. Browsers attach the cookie to
 * every request, so this checks headers that no other page can send: `X-Panel`, which forms cannot
 * send and CORS forbids, and `Sec-Fetch-Site`. Browsers omit `Sec-Fetch-Site` on plain HTTP. In
 * that case `Origin` must have the host of the request.
 */
export const isOwnPage = (headers: PageHeaders): boolean => {
  const { host, origin, "sec-fetch-site": site } = headers
  if (headers["x-panel"] !== "1" || !/^https?:\/\//.test(origin ?? "")) return false
  return site === undefined
    ? origin?.replace(/^https?:\/\//, "").toLowerCase() === host?.toLowerCase()
    : site === "same-origin"
}

/** Returns whether the browser used HTTPS, even if a proxy forwards plain HTTP. */
export const isOnHttps = ({ origin }: PageHeaders): boolean => origin?.startsWith("https:") === true

/**
 * Returns the name of the cookie. Browsers accept a cookie named `__Host-…` only from this exact
 * host. Without the prefix, a page on a sibling host could set its own session cookie, and the user
 * would work in a stranger's account. The prefix requires `Secure` and the path `/`. On plain HTTP
 * the cookie is limited to the path that reads it.
 */
const cookieName = (isSecure: boolean) => (isSecure ? "__Host-panel_session" : "panel_session")

const pathOf = (isSecure: boolean) => (isSecure ? "/" : panelSessionPath)

/**
 * Returns the `Set-Cookie` value that stores the token, or removes the cookie if there is no token.
 */
export const sessionCookie = (token: string | undefined, isSecure: boolean): string =>
  [
    `${cookieName(isSecure)}=${token ?? ""}`,
    "HttpOnly",
    "SameSite=Strict",
    `Path=${pathOf(isSecure)}`,
    `Max-Age=${token === undefined ? 0 : refreshTokenSeconds}`,
    ...(isSecure ? ["Secure"] : [])
  ].join("; ")

/**
 * Reads the token from a `Cookie` header. On HTTPS only the `__Host-` cookie counts. If two cookies
 * have the name, one of them is forged, so both are ignored.
 */
export const readSessionToken = (
  header: string | undefined,
  isSecure: boolean
): string | undefined => {
  const prefix = `${cookieName(isSecure)}=`
  const found = (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length))
  const [token] = found
  return found.length === 1 && token !== "" ? token : undefined
}
