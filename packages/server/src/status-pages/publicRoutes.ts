import { InvalidCredentials } from "@scheduling/domain/auth/AuthErrors"
import { NotFound, RateLimited } from "@scheduling/domain/shared/Errors"
import { Clock, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { AppConfig, elapsedMs, isSameSecret } from "../core/index.ts"
import {
  makeStaticResponse,
  networkOf,
  originOf,
  RateLimits,
  respondWithError,
  type StaticResponse
} from "../http/index.ts"
import type { PublicPage } from "./PublicPage.ts"
import { pageCacheSeconds, PublicPages, type PublishedPage } from "./PublicPages.ts"
import { renderAtom, renderBadge, renderHtml } from "./renderPage.ts"

const headers = {
  // Badges and uptime data are meant to be embedded in other sites.
  "access-control-allow-origin": "*",
  "referrer-policy": "no-referrer",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

/** The formats below `/status/`, by the suffix of the path. */
const formats = {
  ".json": { contentType: "application/json", render: (page: PublicPage) => JSON.stringify(page) },
  ".atom": { contentType: "application/atom+xml; charset=utf-8", render: renderAtom },
  ".svg": { contentType: "image/svg+xml", render: renderBadge },
  "": { contentType: "text/html; charset=utf-8", render: renderHtml }
} as const

/**
 * The compression level. A higher level would save little, and a page is compressed again every 15
 * seconds.
 */
const quality = 4

const address = /^([a-z0-9][a-z0-9-]{1,62})(|\.json|\.atom|\.svg)$/

/**
 * Returns the password of a Basic credential. Any user name is accepted, because pages have none.
 */
const passwordIn = (authorization: string): string => {
  const [scheme, credentials = ""] = authorization.split(" ")
  if (scheme?.toLowerCase() !== "basic") return ""
  const pair = Buffer.from(credentials, "base64").toString()
  return pair.slice(pair.indexOf(":") + 1)
}

const passwordNeeded = { message: "This status page needs its password, with any user name." }

const refuse = (problem: InvalidCredentials | RateLimited) =>
  Effect.map(respondWithError(problem), (response) =>
    HttpServerResponse.setHeaders(response, {
      "cache-control": "no-store",
      ...(problem._tag === "InvalidCredentials" && {
        "www-authenticate": 'Basic realm="status page", charset="UTF-8"'
      })
    })
  )

/** The public addresses of status pages. They need no credential, unless a page has a password. */
export const publicRoutesLayer: Layer.Layer<
  never,
  never,
  AppConfig | HttpRouter.HttpRouter | PublicPages
> = Layer.unwrap(
  Effect.gen(function* () {
    const pages = yield* PublicPages
    const { publicUrl } = yield* AppConfig
    const clock = yield* Clock.Clock
    const wrongPasswords = new RateLimits(100, 15 * 60_000)
    const rendered = new WeakMap<PublicPage, Map<string, Promise<StaticResponse>>>()

    /**
     * Renders and compresses a page only once in each format, for as long as the page is
     * remembered.
     */
    const renderedOnce = (
      { page, password }: PublishedPage,
      format: keyof typeof formats,
      base: string
    ) => {
      const isPublic = password === null
      const known = rendered.get(page) ?? new Map<string, Promise<StaticResponse>>()
      rendered.set(page, known)
      const key = format === ".atom" ? `${format} ${base}` : format
      const { contentType, render } = formats[format]
      const response =
        known.get(key) ??
        makeStaticResponse(
          Buffer.from(render(page, `${base}/status/${page.slug}`)),
          contentType,
          {
            ...headers,
            "cache-control": `${isPublic ? "public" : "private"}, max-age=${pageCacheSeconds}`
          },
          quality
        )
      if (known.size < 10) known.set(key, response)
      return response
    }

    /**
     * Fails unless the request contains the page's password. The number of wrong passwords from
     * each network is limited, because a password can be short.
     */
    const checkPassword = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      { page, password }: PublishedPage
    ) {
      if (password === null) return
      const { authorization } = request.headers
      if (authorization === undefined) return yield* new InvalidCredentials(passwordNeeded)
      const reader = `${networkOf(originOf(request).ip ?? "")} ${page.slug}`
      const { remaining, seconds } = wrongPasswords.take(reader, elapsedMs(clock), 0)
      if (remaining === 0) return yield* new RateLimited({ retry_after: seconds })
      if (isSameSecret(password, passwordIn(authorization))) return
      wrongPasswords.take(reader, elapsedMs(clock))
      return yield* new InvalidCredentials(passwordNeeded)
    })

    const answer = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { page: asked = "" } = yield* HttpRouter.params
      const [, slug, format] = address.exec(asked) ?? []
      const published = slug === undefined ? undefined : yield* pages.find(slug)
      if (published === undefined)
        return yield* respondWithError(new NotFound({ resource: "status_page" }))
      const problem = yield* Effect.option(Effect.flip(checkPassword(request, published)))
      if (Option.isSome(problem)) return yield* refuse(problem.value)
      const base = publicUrl ?? `http://${request.headers["host"] ?? "localhost"}`
      const response = yield* Effect.promise(() =>
        renderedOnce(published, (format ?? "") as keyof typeof formats, base)
      )
      return response.to(request)
    })

    return HttpRouter.add("GET", "/status/:page", answer)
  })
)
