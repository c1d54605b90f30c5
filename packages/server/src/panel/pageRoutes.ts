import { NotFound } from "@scheduling/domain/shared/Errors"
import { Effect, Layer } from "effect"
import { Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { AppConfig } from "../core/index.ts"
import {
  isHttpsRequest,
  mayBePanelPage,
  failWithRouteNotFound,
  panelPages,
  respondWithError
} from "../http/index.ts"
import { PanelFiles } from "./PanelFiles.ts"
import { hstsHeaders, pageHeaders } from "./pageHeaders.ts"

export const pageRoutesLayer: Layer.Layer<
  never,
  never,
  AppConfig | HttpRouter.HttpRouter | PanelFiles
> = Layer.unwrap(
  Effect.gen(function* () {
    const built = yield* PanelFiles
    const isHttps = yield* isHttpsRequest

    const page = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
      const answer = built === undefined ? notBuilt : built.page.to(request)
      return isHttps(request) ? HttpServerResponse.setHeaders(answer, hstsHeaders) : answer
    })

    const asset = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { file = "" } = yield* HttpRouter.params
      const ready = built?.assets.get(file)
      return ready === undefined ? yield* noSuchFile : ready.to(request)
    })

    /**
     * Handles requests for unknown paths. Browsers get the panel with status 404, and API clients
     * get the usual 404 response.
     */
    const unknownPage = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      if (built === undefined || !acceptsPage(request))
        return Effect.orDie(failWithRouteNotFound(request))
      // The request is handled without `If-None-Match`, because a 304 would imply that the page
      // exists.
      const unconditional = request.modify({
        headers: Headers.remove(request.headers, "if-none-match")
      })
      return Effect.map(page, HttpServerResponse.setStatus(404)).pipe(
        Effect.map(HttpServerResponse.setHeader("vary", "accept, accept-encoding")),
        Effect.provideService(HttpServerRequest.HttpServerRequest, unconditional)
      )
    })

    return Layer.mergeAll(
      HttpRouter.add("GET", "/assets/:file", asset),
      ...panelPages.map((path) => HttpRouter.add("GET", path, page)),
      HttpRouter.add("GET", "/*", unknownPage)
    )
  })
)

const acceptsPage = ({ headers, url }: HttpServerRequest.HttpServerRequest): boolean =>
  mayBePanelPage(url) && /\btext\/html\b/i.test(headers["accept"] ?? "")

const noSuchFile = Effect.suspend(() => respondWithError(new NotFound({ resource: "route" })))

const notBuilt = HttpServerResponse.text(
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Scheduling Service</title>
</head>
<body>
<h1>The service is running. Its control panel is not built.</h1>
<p>Build it with <code>npm install</code> in the folder of the service, then start the service again.</p>
<p>The API works without the panel: see <a href="/docs">the reference</a>.</p>
</body>
</html>`,
  {
    contentType: "text/html; charset=utf-8",
    headers: { ...pageHeaders, "cache-control": "no-cache" }
  }
)
