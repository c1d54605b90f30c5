import { refreshTokenSeconds } from "@scheduling/domain/auth/TokenPair"
import { panelSessionPath } from "../http/index.ts"

/** What a browser says about the page that makes a request. */
export type PageHeaders = Readonly<Record<string, string | undefined>>

/**
 * Whether a page of this very origin makes the request. The cookie comes along with whatever the
 * browser sends here, so three things have to hold that no other page can bring about: a header that
 * a form cannot send and that CORS lets no other page send, and what the browser says of the page in
 * `Origin` and `Sec-Fetch-Site`. The latter also holds behind a proxy that changes the host, but
 * browsers leave it out on plain HTTP.
 */
export const isOwnPage = (headers: PageHeaders): boolean => {
  const { host, origin, "sec-fetch-site": site } = headers
  if (headers["x-panel"] !== "1" || !/^https?:\/\//.test(origin ?? "")) return false
  return site === undefined
    ? origin?.replace(/^https?:\/\//, "").toLowerCase() === host?.toLowerCase()
    : site === "same-origin"
}

/** The scheme by which the browser reached us, whatever a proxy made of it. */
export const isOnHttps = ({ origin }: PageHeaders): boolean => origin?.startsWith("https:") === true

/**
 * Browsers take a cookie whose name begins with `__Host-` only from this very host. Otherwise a page
 * of a sibling host could plant a session of its own, and the reader would work in a stranger's
 * account. The prefix demands `Secure` and the path `/`. On plain HTTP there is no such name, so the
 * cookie is at least kept to the one path that reads it.
 */
const nameOf = (isSecure: boolean) => (isSecure ? "__Host-panel_session" : "panel_session")

const pathOf = (isSecure: boolean) => (isSecure ? "/" : panelSessionPath)

/** The header that makes the browser keep the token, or forget it where there is none. */
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
 * The token in a `Cookie` header. On https only a cookie counts that no other host and no plain
 * HTTP can have set. Of two with our name one is not ours, so none counts.
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
