import type { HttpServerRequest } from "effect/http"

/** What is wrong with an item of `ALLOWED_ORIGINS`, or nothing. */
export const originProblem = (origin: string): string | undefined =>
  /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin
    ? undefined
    : `"${origin}" is not an origin such as https://app.example.com`

/**
 * What pages of other origins may do. Nearly everything: they carry the credential themselves, no
 * cookie ever does, so a page can do here what whoever gave it the credential can. But credentials
 * are given away to pages of allowed origins only: the browser of an employee reaches services that
 * the owner of a page does not, and with an account that anybody may open the page could have us
 * call what `EGRESS_ALLOW` opens.
 */
export class PageRules {
  readonly #givesCredentials: (url: string) => boolean
  readonly #allowed: ReadonlySet<string>

  constructor(givesCredentials: (url: string) => boolean, allowedOrigins: ReadonlyArray<string>) {
    this.#givesCredentials = givesCredentials
    this.#allowed = new Set(allowedOrigins)
  }

  /** Not left to CORS: without a content type a page need not ask first. */
  refuses({ headers, method, url }: HttpServerRequest.HttpServerRequest): boolean {
    const { host, origin, "sec-fetch-site": site } = headers
    if (origin === undefined && site === undefined) return false
    if (method === "OPTIONS" || !this.#givesCredentials(url)) return false
    if (origin !== undefined && this.#allowed.has(origin)) return false
    return site === undefined
      ? origin?.replace(/^https?:\/\//, "") !== host
      : site !== "same-origin" && site !== "none"
  }

  /** The headers that let a page read the answer; none for anybody who is no page. */
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
  "access-control-expose-headers": "x-request-id, retry-after, www-authenticate"
}
