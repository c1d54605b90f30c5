import { openApiDocument } from "@scheduling/domain/OpenApiDocument"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"

/** The reference for machines at `/v1/openapi.json`, and for people at `/docs`, from one document. */
export const docsLayer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Layer.Layer<never, never, HttpRouter.HttpRouter> => {
  const documented = api.annotate(OpenApi.Transform, () => ({
    ...openApiDocument(api, { url: "/" })
  }))
  return Layer.mergeAll(
    // Anybody may ask for it, and to write it down takes 10 ms.
    HttpRouter.add(
      "GET",
      "/v1/openapi.json",
      once(() => HttpServerResponse.jsonUnsafe(OpenApi.fromApi(documented)))
    ),
    HttpApiScalar.layer(documented, { path: "/docs", scalar: offline }).pipe(
      Layer.provide(guarded.layer)
    )
  )
}

// ---------------------------------------------------------------------------

const once = <A>(make: () => A): Effect.Effect<A> => {
  let made: A | undefined
  return Effect.sync(() => (made ??= make()))
}

/** The page asks nothing of anybody else: no fonts, no telemetry, no buttons that upload the document. */
const offline = {
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  hideClientButton: true
}

/** Its own two scripts run on the page, and whatever else got into it does not. */
const guarded = HttpRouter.middleware((answer) => {
  let policy: string | undefined
  return Effect.map(answer, (page) => {
    policy ??= policyOf(page)
    return HttpServerResponse.setHeaders(page, {
      "content-security-policy": policy,
      "referrer-policy": "no-referrer"
    })
  })
})

const policyOf = ({ body }: HttpServerResponse.HttpServerResponse): string => {
  const html = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
  const scripts = Array.from(html.matchAll(/<script>([^]*?)<\/script>/g), ([, script = ""]) => {
    const hash = createHash("sha256").update(script).digest("base64")
    return `'sha256-${hash}'`
  })
  return [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}
