import type { HttpServerRequest } from "effect/http"

/**
 * Decides what web pages of other origins may do. They send their credential explicitly and never
 * as a cookie, so a page can do only what its credential allows. But only pages of allowed origins
 * may obtain credentials: an employee's browser can reach services that the owner of a page cannot,
 * and with an account that anybody may register, the page could make the service call what
 * `EGRESS_ALLOW` opens.
 */
export class PageRules {
  readonly #givesCredentials: (url: string) => boolean
  readonly #allowed: ReadonlySet<string>

  constructor(givesCredentials: (url: string) => boolean, allowedOrigins: ReadonlyArray<string>) {
    this.#givesCredentials = givesCredentials
    this.#allowed = new Set(allowedOrigins)
  }

  /**
   * Checked here rather than by CORS, because a request without a content type needs no preflight.
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
    "x-request-id, location, idempotent-replayed, retry-after, ratelimit, ratelimit-policy, www-authenticate, deprecation, sunset, link"
}
