import { openApiDocument } from "@scheduling/domain/OpenApiDocument"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"

/** The reference for machines at `/v1/openapi.json`, and for people at `/docs`, from one document. */
export const docsLayer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Layer.Layer<never, never, HttpRouter.HttpRouter> => {
  const documented = api.annotate(OpenApi.Transform, () => ({
    ...openApiDocument(api, { url: "/" })
  }))
  return Layer.mergeAll(
    HttpRouter.add(
      "GET",
      "/v1/openapi.json",
      Effect.sync(() => HttpServerResponse.jsonUnsafe(OpenApi.fromApi(documented)))
    ),
    HttpApiScalar.layer(documented, { path: "/docs", scalar: offline })
  )
}

/** The page asks nothing of anybody else: no fonts, no telemetry, no buttons that upload the document. */
const offline = {
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  hideClientButton: true
}
