import { HttpApi } from "effect/http-api"
import { Api } from "@scheduling/domain/Api"

export interface Route {
  readonly method: string
  readonly path: string
}

/** All endpoints of the contract. */
export const routes: ReadonlyArray<Route> = (() => {
  const found: Array<Route> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path } }) => {
      found.push({ method, path })
    }
  })
  return found
})()

export const unknownId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"

export const urlWithIds = (path: string, ids: Readonly<Record<string, string>> = {}): string =>
  path.replaceAll(
    /:(\w+)/g,
    (_, name: string) => ids[name] ?? (name === "name" ? "A_NAME" : unknownId)
  )

/** Returns the methods that a URL's endpoints have. Every GET endpoint also handles HEAD. */
export const methodsAt = (url: string): ReadonlyArray<string> => {
  const methods = routes
    .filter(({ path }) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`).test(url))
    .flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))
  return [...new Set(methods)].toSorted()
}
