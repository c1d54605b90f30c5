import { refreshTokenSeconds } from "@scheduling/domain/auth/TokenPair"
import { panelSessionPath } from "../http/index.ts"

/** The headers by which a browser describes the page that sends a request. */
export type PageHeaders = Readonly<Record<string, string | undefined>>

/**
 * Returns whether a page of this origin sends the request. Browsers attach the cookie to every
 * request, so this checks headers that no other page can send: `X-Panel`, which forms cannot send
 * and CORS forbids, and `Sec-Fetch-Site`. Browsers omit `Sec-Fetch-Site` on plain HTTP. There
 * `Origin` must have the host of the request.
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
 * The name of the cookie. Browsers accept a cookie named `__Host-…` only from this very host.
 * Without the prefix, a page of a sibling host could set a session of its own, and a person would
 * work in a stranger's account. The prefix requires `Secure` and the path `/`. On plain HTTP the
 * cookie is limited to the path that reads it.
 */
const cookieName = (isSecure: boolean) => (isSecure ? "__Host-panel_session" : "panel_session")

const pathOf = (isSecure: boolean) => (isSecure ? "/" : panelSessionPath)

/** The value of `Set-Cookie` that stores the token, or removes the cookie if there is no token. */
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
 * have the name, one of them is forged, so none counts.
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
