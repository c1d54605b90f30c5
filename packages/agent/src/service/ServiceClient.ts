import { WorkerAuthentication } from "@scheduling/domain/workers/WorkerAuthentication"
import { WorkerApi } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Context, Effect, Layer } from "effect"
import { FetchHttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import type { Settings } from "../settings.ts"
import { boundedFetch } from "./boundedFetch.ts"

/** The timeout of all requests except claims, which wait for runs. */
export const requestTimeoutMs = 10_000

const makeClient = ({ token, url }: Pick<Settings, "token" | "url">) =>
  HttpApiClient.make(WorkerApi, { baseUrl: url }).pipe(
    Effect.map(({ claims, protocol }) => ({ ...protocol, ...claims })),
    Effect.provide(
      HttpApiMiddleware.layerClient(WorkerAuthentication, ({ next, request }) =>
        next(HttpClientRequest.bearerToken(request, token))
      )
    ),
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(FetchHttpClient.Fetch, boundedFetch)
  )

export class ServiceClient extends Context.Service<
  ServiceClient,
  Effect.Success<ReturnType<typeof makeClient>>
>()("scheduling-agent/ServiceClient") {
  static readonly layer = (settings: Pick<Settings, "token" | "url">): Layer.Layer<ServiceClient> =>
    Layer.effect(ServiceClient, makeClient(settings))
}
