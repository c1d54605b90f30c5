import type { HttpServerRequest } from "effect/http"

/**
 * Decides what web pages of other origins may do. A page sends its credential explicitly and never
 * as a cookie, so it can do only what the credential allows. But only pages of allowed origins may
 * obtain credentials. Otherwise, a page could use the browser of an employee, which can reach
 * services that the owner of the page cannot reach: with an account that anybody may register, the
 * page could make the service call the private networks of `EGRESS_ALLOW`.
 */
export class CrossOriginRules {
  readonly #givesCredentials: (url: string) => boolean
  readonly #allowed: ReadonlySet<string>

  constructor(givesCredentials: (url: string) => boolean, allowedOrigins: ReadonlyArray<string>) {
    this.#givesCredentials = givesCredentials
    this.#allowed = new Set(allowedOrigins)
  }

  /**
   * Returns whether a page of another origin requests credentials. CORS cannot prevent this,
   * because a request without a content type needs no preflight.
   */
  refuses({ headers, method, url }: HttpServerRequest.HttpServerRequest): boolean {
    const { host, origin, "sec-fetch-site": site } = headers
    if (origin === undefined && site === undefined) return false
    if (method === "OPTIONS" || !this.#givesCredentials(url)) return false
    if (origin !== undefined && this.#allowed.has(origin)) return false
    return site === undefined
      ? origin?.replace(/^https?:\/\//, "") !== host
      : site !== "same-origin" && site !== "none"
  }

  /**
   * Returns the headers that let a page read the response. Undefined if the request does not come
   * from a page.
   */
  cors({ headers: { origin }, url }: HttpServerRequest.HttpServerRequest) {
    if (origin === undefined) return undefined
    if (!this.#givesCredentials(url)) return openToAll
    return this.#allowed.has(origin)
      ? { ...openToAll, "access-control-allow-origin": origin, vary: "origin" }
      : undefined
  }
}

const openToAll = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "etag, x-request-id, location, idempotent-replayed, retry-after, ratelimit, ratelimit-policy, www-authenticate, deprecation, sunset, link"
}
