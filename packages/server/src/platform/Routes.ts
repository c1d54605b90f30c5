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
import { echoPath } from "../runner/OwnEcho.ts"

/** One URL a resource: a proxy that closes a path must not be got around with other letters or slashes. */
export const routerConfig = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  // As long as a URL gets: an id that is too long names nothing, as any other that is none.
  maxParamLength: 16 * 1024
}

/**
 * The router, left alone, finds `/v1/health` for `/v1/%68ealth` and `/v1/health;x` too, and takes
 * nothing for an id.
 */
export const inOneSpelling = <E, R>(
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
    > => (isRespelled(request.url) ? noSuchRoute(request) : answer)
  )

const noSuchRoute = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.fail(
    new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
  )

/**
 * Before the query: what it takes for the start of one, an empty segment other than the root, and
 * what is encoded though nobody has to.
 */
const respelled =
  /^(?!\/(?:\?|$))[^?]*(?:[;#]|\/(?:[/?]|$)|%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e))/i
/** The router takes `*`, which asks for no resource, for the root. */
const isRespelled = (url: string) => !url.startsWith("/") || respelled.test(url)

const unlisted = [
  ["GET", "/v1/openapi.json"],
  ["GET", "/docs"],
  ["GET", "/"],
  ["GET", "/favicon.ico"],
  ["GET", echoPath],
  ["POST", echoPath]
] as const

/** The methods that a URL answers, for the `Allow` header; none where there is no such route. */
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
    isRespelled(url)
      ? []
      : [...methods].filter((method) => router.find(method, url) !== undefined).toSorted()
}

/** Whether anybody may send something there: to register, to log in, to refresh. */
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
  return (url) => router.find("POST", url) !== undefined
}
