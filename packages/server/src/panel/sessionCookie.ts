import { refreshTokenSeconds } from "@scheduling/domain/auth/TokenPair"
import { panelOidcPath, panelSessionPath } from "../http/index.ts"

/** The headers by which browsers describe the page that sent a request. */
export type BrowserHeaders = Readonly<Record<string, string | undefined>>

/**
 * Returns whether the request was sent by a page of this origin. Browsers attach the cookie to
 * every request, so headers that no other page can send are checked: `X-Panel`, which forms cannot
 * send and CORS forbids, and `Sec-Fetch-Site`. On plain HTTP, browsers omit `Sec-Fetch-Site`, and
 * `Origin` must have the host of the request instead.
 */
export const isFromOwnPage = (headers: BrowserHeaders): boolean => {
  const { host, origin, "sec-fetch-site": site } = headers
  if (headers["x-panel"] !== "1" || !/^https?:\/\//.test(origin ?? "")) return false
  return site === undefined
    ? origin?.replace(/^https?:\/\//, "").toLowerCase() === host?.toLowerCase()
    : site === "same-origin"
}

/** Returns whether the browser used HTTPS, even if a proxy forwards plain HTTP. */
export const isOnHttps = ({ origin }: BrowserHeaders): boolean =>
  origin?.startsWith("https:") === true

/**
 * Returns the name of the cookie. Browsers accept a cookie named `__Host-…` only from this exact
 * host. Without the prefix, a page on a sibling host could set its own session cookie, and the user
 * would work in a stranger's account. The prefix requires `Secure` and the path `/`. On plain HTTP
 * the cookie is limited to the path that reads it.
 */
const cookieName = (isSecure: boolean) => (isSecure ? "__Host-panel_session" : "panel_session")
const signInCookieName = (isSecure: boolean) => (isSecure ? "__Host-panel_oidc" : "panel_oidc")

/**
 * Returns the `Set-Cookie` value that stores the token, or removes the cookie if there is no token.
 */
export const sessionCookie = (token: string | undefined, isSecure: boolean): string =>
  cookie(cookieName(isSecure), token, {
    sameSite: "Strict",
    path: isSecure ? "/" : panelSessionPath,
    seconds: refreshTokenSeconds,
    isSecure
  })

/**
 * Returns the `Set-Cookie` value that keeps the secrets of a sign-in while the browser is at the
 * identity provider. The cookie is not strict, because browsers do not send strict cookies when
 * they return from another site.
 */
export const signInCookie = (secrets: string | undefined, isSecure: boolean): string =>
  cookie(signInCookieName(isSecure), secrets, {
    sameSite: "Lax",
    path: isSecure ? "/" : panelOidcPath,
    seconds: signInTimeoutSeconds,
    isSecure
  })

/** Returns the name and the attributes by which the cookie of a sign-in is removed. */
export const signInCookieKey = (isSecure: boolean) =>
  [
    signInCookieName(isSecure),
    {
      httpOnly: true,
      sameSite: "lax",
      path: isSecure ? "/" : panelOidcPath,
      secure: isSecure
    }
  ] as const

/** How long a person may take to sign in at the identity provider. */
export const signInTimeoutSeconds = 600

/**
 * Reads the token from a `Cookie` header. On HTTPS only the `__Host-` cookie counts. If two cookies
 * have the name, one of them is forged, so both are ignored.
 */
export const readSessionToken = (
  header: string | undefined,
  isSecure: boolean
): string | undefined => readCookie(header, cookieName(isSecure))

export const readSignInSecrets = (
  header: string | undefined,
  isSecure: boolean
): string | undefined => readCookie(header, signInCookieName(isSecure))

const cookie = (
  name: string,
  value: string | undefined,
  {
    isSecure,
    path,
    sameSite,
    seconds
  }: {
    readonly sameSite: "Strict" | "Lax"
    readonly path: string
    readonly seconds: number
    readonly isSecure: boolean
  }
) =>
  [
    `${name}=${value ?? ""}`,
    "HttpOnly",
    `SameSite=${sameSite}`,
    `Path=${path}`,
    `Max-Age=${value === undefined ? 0 : seconds}`,
    ...(isSecure ? ["Secure"] : [])
  ].join("; ")

const readCookie = (header: string | undefined, name: string): string | undefined => {
  const prefix = `${name}=`
  const found = (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length))
  const [value] = found
  return found.length === 1 && value !== "" ? value : undefined
}
