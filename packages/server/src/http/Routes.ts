import { Access } from "@scheduling/domain/shared/Access"
import { Context, Effect } from "effect"
import {
  FindMyWay,
  type HttpRouter,
  HttpServerError,
  HttpServerRequest,
  type HttpServerResponse
} from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { tokenPath } from "@scheduling/domain/service-accounts/ServiceAccount"
import { echoPath } from "@scheduling/calls/exchange/OwnEcho"

/**
 * Each resource has exactly one URL, so that a different letter case or an extra slash cannot
 * bypass a proxy that blocks a path.
 */
export const routerConfig = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  // The maximum length of a URL parameter. It equals that of a URL, so that a very long id gets the
  // same response as any other unknown id.
  maxParamLength: 16 * 1024
}

/**
 * Accepts only one spelling of each URL. The router also resolves `/v1/%68ealth` and `/v1/health;x`
 * to `/v1/health`, and accepts an empty id.
 */
export const requireCanonicalUrl = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (
      request
    ): Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      E | HttpServerError.HttpServerError,
      R
    > => (isNonCanonicalUrl(request.url) ? noSuchRoute(request) : answer)
  )

export const noSuchRoute = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.fail(
    new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
  )

/**
 * Matches, before the query: a character that the router treats as the start of the query, an empty
 * segment other than the root, or an encoded character that needs no encoding.
 */
const nonCanonicalUrl =
  /^(?!\/(?:\?|$))[^?]*(?:[;#]|\/(?:[/?]|$)|%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e))/i
/** The router resolves `*`, which names no resource, to the root. */
const isNonCanonicalUrl = (url: string) => !url.startsWith("/") || nonCanonicalUrl.test(url)

/** The panel's login endpoint. It sets a cookie that scripts cannot read. */
export const panelSessionPath = "/panel/session"

/** Starts a sign-in at the identity provider, which returns to the callback. */
export const panelOidcPath = "/panel/oidc"
export const panelOidcCallbackPath = `${panelOidcPath}/callback`

/** The panel's passkeys. Those below the path of the session read its cookie. */
export const panelPasskeyPaths = [
  "/panel/passkey/options",
  "/panel/passkey",
  "/panel/session/passkeys/list",
  "/panel/session/passkeys/options",
  "/panel/session/passkeys/add",
  "/panel/session/passkeys/rename",
  "/panel/session/passkeys/remove"
] as const

/**
 * The paths of the panel's pages. All of them serve the same file, which renders the right page.
 */
export const panelPages = [
  "/",
  "/sign-in",
  "/register",
  "/forgot-password",
  "/reset-password",
  "/invitation",
  "/welcome",
  "/account/*",
  "/w/*"
] as const

const unlisted = [
  ["GET", "/v1/openapi.json"],
  ["GET", "/v1/openapi-3.0.json"],
  ["GET", "/docs"],
  ["GET", "/favicon.ico"],
  ["GET", "/status/:page"],
  ["GET", echoPath],
  ["POST", echoPath],
  ["POST", tokenPath],
  ["POST", "/v1/worker/hello"],
  ["POST", "/v1/worker/claim"],
  ["POST", "/v1/worker/beat"],
  ["POST", "/v1/worker/results"],
  ["POST", "/complete/:token"],
  ["POST", "/complete/:token/fail"],
  ["POST", "/complete/:token/log"],
  ["GET", "/ping/:ping_id"],
  ["POST", "/ping/:ping_id"],
  ["GET", "/ping/:ping_id/:signal"],
  ["POST", "/ping/:ping_id/:signal"],
  ["GET", "/ping/:ping_key/:key/:signal"],
  ["POST", "/ping/:ping_key/:key/:signal"],
  ["POST", "/v1/billing/webhooks/stripe"],
  ["GET", "/email/verify/:token"],
  ["POST", "/email/verify/:token"],
  ["GET", "/notifications/confirm/:token"],
  ["POST", "/notifications/confirm/:token"],
  ["GET", "/notifications/acknowledge/:token"],
  ["POST", "/notifications/acknowledge/:token"],
  ["GET", "/notifications/unsubscribe/:token"],
  ["POST", "/notifications/unsubscribe/:token"],
  ["GET", "/assets/:file"],
  ["POST", panelOidcPath],
  ["GET", panelOidcCallbackPath],
  ...panelPasskeyPaths.map((path) => ["POST", path] as const),
  ...panelPages.map((path) => ["GET", path] as const),
  ...(["POST", "PUT", "PATCH", "DELETE"] as const).map(
    (method) => [method, panelSessionPath] as const
  )
] as const

const pages: ReadonlySet<string> = new Set(panelPages)

/** First path segments that API clients request, sometimes with browser-like headers. */
const nonPageRoots: ReadonlySet<string | undefined> = new Set([
  "v1",
  ...unlisted.flatMap(([, path]) => (pages.has(path) ? [] : [path.split("/")[1]]))
])

/** Returns true if the URL may be a page of the panel. */
export const mayBePage = (url: string): boolean => !nonPageRoots.has(/^\/([^/?]*)/.exec(url)?.[1])

/** Returns the methods that a URL supports, for the `Allow` header. Empty if no route matches. */
export const allowedMethods = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ((url: string) => ReadonlyArray<string>) => {
  const router = FindMyWay.make<true>(routerConfig)
  const methods = new Set<string>()
  const register = (method: string, path: string) => {
    methods.add(method)
    router.on(method, path as HttpRouter.PathInput, true)
    if (method === "GET") register("HEAD", path)
  }
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => register(endpoint.method, endpoint.path)
  })
  for (const [method, path] of unlisted) register(method, path)
  return (url) =>
    isNonCanonicalUrl(url)
      ? []
      : [...methods].filter((method) => router.find(method, url) !== undefined).toSorted()
}

/** Finds the URLs that accept data without a credential, such as register, log in and refresh. */
export const givesCredentials = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ((url: string) => boolean) => {
  const router = FindMyWay.make<true>(routerConfig)
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const { kind } = Context.getUnsafe(endpoint.annotations, Access)
      if (kind === "public" && endpoint.payload.size > 0) {
        router.on("POST", endpoint.path as HttpRouter.PathInput, true)
      }
    }
  })
  router.on("POST", tokenPath, true)
  router.on("POST", panelSessionPath, true)
  for (const path of [panelOidcPath, ...panelPasskeyPaths] as const) router.on("POST", path, true)
  return (url) => router.find("POST", url) !== undefined
}
