import { FindMyWay, type HttpRouter } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"

/** One URL a resource: a proxy that closes a path must not be got around with other letters or slashes. */
export const routerConfig = { caseSensitive: true, ignoreDuplicateSlashes: false }

const unlisted = ["/v1/openapi.json", "/docs"] as const

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
  for (const path of unlisted) register("GET", path)
  return (url) => [...methods].filter((method) => router.find(method, url) !== undefined).toSorted()
}
