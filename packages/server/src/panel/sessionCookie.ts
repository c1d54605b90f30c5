import { refreshTokenSeconds } from "@scheduling/domain/auth/TokenPair"
import { panelSessionPath } from "../http/index.ts"

/** The headers by which a browser describes the page that sends a request. */
export type PageHeaders = Readonly<Record<string, string | undefined>>

/**
 * Whether a page of this origin sends the request. Browsers attach the cookie to every request, so
 * three things must hold that no other page can cause: a header that forms cannot send and CORS
 * forbids, `Origin`, and `Sec-Fetch-Site`. The last also holds behind a proxy that changes the
 * host, but browsers omit it on plain HTTP.
 */
export const isOwnPage = (headers: PageHeaders): boolean => {
  const { host, origin, "sec-fetch-site": site } = headers
  if (headers["x-panel"] !== "1" || !/^https?:\/\//.test(origin ?? "")) return false
  return site === undefined
    ? origin?.replace(/^https?:\/\//, "").toLowerCase() === host?.toLowerCase()
    : site === "same-origin"
}

/** Whether the browser used HTTPS, even if a proxy forwards plain HTTP. */
export const isOnHttps = ({ origin }: PageHeaders): boolean => origin?.startsWith("https:") === true

/**
 * Browsers accept a cookie named `__Host-…` only from this very host. Otherwise a page of a sibling
 * host could plant a session of its own, and the reader would work in a stranger's account. The
 * prefix requires `Secure` and the path `/`. On plain HTTP the cookie is at least limited to the
 * one path that reads it.
 */
const nameOf = (isSecure: boolean) => (isSecure ? "__Host-panel_session" : "panel_session")

const pathOf = (isSecure: boolean) => (isSecure ? "/" : panelSessionPath)

/** The header that stores the token, or removes it if there is none. */
export const sessionCookie = (token: string | undefined, isSecure: boolean): string =>
  [
    `${nameOf(isSecure)}=${token ?? ""}`,
    "HttpOnly",
    "SameSite=Strict",
    `Path=${pathOf(isSecure)}`,
    `Max-Age=${token === undefined ? 0 : refreshTokenSeconds}`,
    ...(isSecure ? ["Secure"] : [])
  ].join("; ")

/**
 * The token in a `Cookie` header. On HTTPS only the cookie counts that no other host and no plain
 * HTTP can set. If two have our name, one is forged, so none counts.
 */
export const tokenIn = (header: string | undefined, isSecure: boolean): string | undefined => {
  const prefix = `${nameOf(isSecure)}=`
  const found = (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length))
  const [token] = found
  return found.length === 1 && token !== "" ? token : undefined
}
