import { NotFound } from "@scheduling/domain/shared/Errors"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { AppConfig } from "../core/index.ts"
import { respond } from "../http/index.ts"
import type { PublicPage } from "./PublicPage.ts"
import { freshSeconds, PublicPages } from "./PublicPages.ts"
import { renderAtom, renderBadge, renderHtml } from "./renderPage.ts"

const headers = {
  "cache-control": `public, max-age=${freshSeconds}`,
  // Badges and figures are meant to be embedded in other sites.
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

const address = /^([a-z0-9][a-z0-9-]{1,62})(|\.json|\.atom|\.svg)$/

/** The public addresses of status pages. They need no credential. */
export const publicRoutesLayer: Layer.Layer<
  never,
  never,
  AppConfig | HttpRouter.HttpRouter | PublicPages
> = Layer.unwrap(
  Effect.gen(function* () {
    const pages = yield* PublicPages
    const { publicUrl } = yield* AppConfig
    const rendered = new WeakMap<PublicPage, Map<string, HttpServerResponse.HttpServerResponse>>()

    /** Renders a page once in each format while it is remembered. */
    const answerOf = (page: PublicPage, format: keyof typeof formats, base: string) => {
      const known = rendered.get(page) ?? new Map()
      rendered.set(page, known)
      const key = format === ".atom" ? `${format} ${base}` : format
      const { contentType, render } = formats[format]
      const response: HttpServerResponse.HttpServerResponse =
        known.get(key) ??
        HttpServerResponse.text(render(page, `${base}/status/${page.slug}`), {
          contentType,
          headers
        })
      if (known.size < 10) known.set(key, response)
      return response
    }

    const answer = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { page: asked = "" } = yield* HttpRouter.params
      const [, slug, format] = address.exec(asked) ?? []
      const page = slug === undefined ? undefined : yield* pages.find(slug)
      if (page === undefined) return yield* respond(new NotFound({ resource: "status_page" }))
      const base = publicUrl ?? `http://${request.headers["host"] ?? "localhost"}`
      return answerOf(page, (format ?? "") as keyof typeof formats, base)
    })

    return HttpRouter.add("GET", "/status/:page", answer)
  })
)
