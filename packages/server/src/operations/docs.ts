import { toOpenApi30 } from "@scheduling/openapi/toOpenApi30"
import { openApiDocument } from "@scheduling/openapi/OpenApiDocument"
import { publishedDocument } from "@scheduling/openapi/publishedDocument"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"
import { makeStaticResponse, type StaticResponse } from "../http/index.ts"

/**
 * Serves the API reference: the OpenAPI document at `/v1/openapi.json`, the same document for older
 * generators at `/v1/openapi-3.0.json`, and a web page at `/docs`.
 */
export const docsLayer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Layer.Layer<never, never, HttpRouter.HttpRouter> => {
  const server = { url: "/" }
  const documented = api.annotate(OpenApi.Transform, () => ({ ...openApiDocument(api, server) }))
  return Layer.mergeAll(
    json("/v1/openapi.json", () => publishedDocument(api, server)),
    json("/v1/openapi-3.0.json", () => toOpenApi30(publishedDocument(api, server))),
    HttpRouter.add("GET", "/favicon.ico", icon),
    HttpApiScalar.layer(documented, { path: "/docs", scalar: offline }).pipe(
      Layer.provide(cachePage.layer)
    )
  )
}

const json = (path: `/${string}`, make: () => unknown) =>
  HttpRouter.add(
    "GET",
    path,
    cachedResponse(() =>
      makeStaticResponse(new TextEncoder().encode(JSON.stringify(make())), "application/json", {
        "content-security-policy": policyFor([])
      })
    )
  )

/**
 * Builds a response at the first request and caches it. Building and compressing take up to a
 * second, and anybody can send the request.
 */
const cachedResponse = (make: () => Promise<StaticResponse>) => {
  let ready: Promise<StaticResponse> | undefined
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.map(
      Effect.promise(() => (ready ??= make())),
      (answer) => answer.to(request)
    )
  )
}

/**
 * The icon of the page: a clock in the colour of the API reference. Browsers accept SVG under the
 * name `favicon.ico`.
 */
const icon = HttpServerResponse.text(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#0f766e" ' +
    'stroke-width="3" stroke-linecap="round"><circle cx="16" cy="16" r="13"/>' +
    '<path d="M16 8v8l6 4"/></svg>',
  {
    contentType: "image/svg+xml",
    headers: {
      "cache-control": "public, max-age=86400",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"
    }
  }
)

/**
 * Settings that keep the page from contacting third parties: no fonts, no telemetry, and no buttons
 * that upload the document.
 */
const offline = {
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  authentication: { preferredSecurityScheme: "bearer" }
}

/** Builds the framework's page at the first request, and caches it compressed. */
const cachePage = HttpRouter.middleware((answer) => {
  let ready: StaticResponse | undefined
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    if (ready !== undefined) return Effect.succeed(ready.to(request))
    return Effect.flatMap(answer, ({ body }) =>
      Effect.promise(async () => {
        const html = body._tag === "Uint8Array" ? body.body : new Uint8Array()
        ready ??= await makeStaticResponse(html, "text/html; charset=utf-8", {
          "content-security-policy": policyFor(scriptsOf(html)),
          "referrer-policy": "no-referrer"
        })
        return ready.to(request)
      })
    )
  })
})

const scriptsOf = (html: Uint8Array): ReadonlyArray<string> =>
  Array.from(
    new TextDecoder().decode(html).matchAll(/<script>([^]*?)<\/script>/g),
    ([, script = ""]) => script
  )

/** Creates a content security policy that allows only these scripts. */
const policyFor = (scripts: ReadonlyArray<string>): string => {
  const hashes = scripts.map(
    (script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`
  )
  return [
    "default-src 'none'",
    ...(hashes.length === 0 ? [] : [`script-src ${hashes.join(" ")}`]),
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}
