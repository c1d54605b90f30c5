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
import { echoPath } from "@scheduling/calls/exchange/OwnEchoUrl"

/**
 * Settings of the router. Each resource has exactly one URL. A different letter case or an extra
 * slash therefore cannot bypass a proxy that blocks a path.
 */
export const routerConfig = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  // The maximum length of a URL parameter. It equals the maximum length of a URL, so that a very
  // long id gets the same response as any other unknown id.
  maxParamLength: 16 * 1024
}

/**
 * Accepts only one spelling of each URL. The router would also resolve `/v1/%68ealth` and
 * `/v1/health;x` to `/v1/health`, and would accept an empty id.
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
    > => (isNonCanonicalUrl(request.url) ? failWithRouteNotFound(request) : answer)
  )

/** Fails as the router does if no route matches the request. */
export const failWithRouteNotFound = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.fail(
    new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
  )

/**
 * Matches a part of the URL before the query that is not canonical: a character that the router
 * treats as the start of the query, an empty segment other than the root, or an encoded character
 * that needs no encoding.
 */
const nonCanonicalUrl =
  /^(?!\/(?:\?|$))[^?]*(?:[;#]|\/(?:[/?]|$)|%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e))/i
/**
 * Returns whether a URL is not spelled canonically and is therefore rejected. `*` is rejected too: it
 * names no resource, but the router would resolve it to the root.
 */
const isNonCanonicalUrl = (url: string) => !url.startsWith("/") || nonCanonicalUrl.test(url)

/** The panel's login endpoint. It sets a cookie that scripts cannot read. */
export const panelSessionPath = "/panel/session"

/**
 * The path that starts a sign-in at the identity provider. The provider returns to the callback
 * path.
 */
export const panelOidcPath = "/panel/oidc"
export const panelOidcCallbackPath = `${panelOidcPath}/callback`

/** The path that signs in with a link that an operator has created. */
export const panelLinkPath = "/panel/link"

/** The path that signs in the person whom the authenticating proxy names. */
export const panelProxyPath = "/panel/proxy"

/** The routes for passkeys. Routes below the path of the session read its cookie. */
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
 * The paths of the panel's pages. The same file is served for all of them, and it renders the right
 * page.
 */
export const panelPages = [
  "/",
  "/sign-in",
  "/register",
  "/forgot-password",
  "/reset-password",
  "/sign-in-link",
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
  ["POST", "/trigger/:token"],
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
  ["GET", "/notifications/approve/:token"],
  ["POST", "/notifications/approve/:token"],
  ["GET", "/email/verify/:token"],
  ["POST", "/email/verify/:token"],
  ["GET", "/notifications/confirm/:token"],
  ["POST", "/notifications/confirm/:token"],
  ["GET", "/notifications/incident/:token"],
  ["POST", "/notifications/incident/:token"],
  ["GET", "/notifications/unsubscribe/:token"],
  ["POST", "/notifications/unsubscribe/:token"],
  ["GET", "/assets/:file"],
  ["POST", panelOidcPath],
  ["POST", panelLinkPath],
  ["POST", panelProxyPath],
  ["GET", panelOidcCallbackPath],
  ...panelPasskeyPaths.map((path) => ["POST", path] as const),
  ...panelPages.map((path) => ["GET", path] as const),
  ...(["POST", "PUT", "PATCH", "DELETE"] as const).map(
    (method) => [method, panelSessionPath] as const
  )
] as const

const pages: ReadonlySet<string> = new Set(panelPages)

/**
 * First segments of paths that are never pages of the panel. API clients request these paths,
 * sometimes with headers like those of a browser.
 */
const nonPageRoots: ReadonlySet<string | undefined> = new Set([
  "v1",
  ...unlisted.flatMap(([, path]) => (pages.has(path) ? [] : [path.split("/")[1]]))
])

/** Returns true if the URL may be a page of the panel. */
export const mayBePanelPage = (url: string): boolean =>
  !nonPageRoots.has(/^\/([^/?]*)/.exec(url)?.[1])

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
export const acceptsDataWithoutCredential = <
  Id extends string,
  Groups extends HttpApiGroup.Constraint
>(
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
  for (const path of [
    panelOidcPath,
    panelLinkPath,
    panelProxyPath,
    ...panelPasskeyPaths
  ] as const) {
    router.on("POST", path, true)
  }
  return (url) => router.find("POST", url) !== undefined
}
