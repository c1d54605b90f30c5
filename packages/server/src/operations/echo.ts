import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { echoPath } from "@scheduling/calls/exchange/OwnEchoUrl"

/**
 * The maximum number of characters of a body that the echo repeats. It leaves room for the headers,
 * because an execution stores only 10,000 bytes of a response.
 */
const maxBodyCharacters = 4_096

/** Headers that the echo omits: credentials, and headers that proxies add for this service. */
const hidden = /^(?:authorization|cookie|forwarded|via|x-real-ip|x-forwarded-.*)$/

/** Responds with the request itself, so that a first execution shows what a target receives. */
const echo = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const headers = Object.entries(request.headers).filter(([name]) => !hidden.test(name))
  const body = hasBody(request) ? yield* request.text : null
  return HttpServerResponse.jsonUnsafe(
    {
      method: request.method,
      headers: Object.fromEntries(headers),
      body: body?.slice(0, maxBodyCharacters).toWellFormed() ?? null
    },
    { headers: { "cache-control": "no-store" } }
  )
})

const hasBody = ({ headers, method }: HttpServerRequest.HttpServerRequest): boolean =>
  method === "POST" &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)

/** The routes that respond with the request that they receive. */
export const echoLayer = Layer.merge(
  HttpRouter.add("GET", echoPath, echo),
  HttpRouter.add("POST", echoPath, echo)
)
