import { type ExecutionError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { Clock, Context, Effect, Layer, Result } from "effect"
import { TLSSocket } from "node:tls"
import { type CallRequest } from "../CallRequest.ts"
import type { ResponseOrFailure } from "../CallResult.ts"
import { classifyExchange, rejectedCallResult } from "../classifyExchange.ts"
import { Connection } from "../exchange/Connection.ts"
import { EgressAllow, makeConnect, Resolver } from "../egress/Egress.ts"
import { Exchange } from "../exchange/Exchange.ts"
import { makeRequest } from "../OutgoingRequest.ts"

export interface HttpProbeResponse extends ResponseOrFailure {
  /** The expiry of the server's certificate, in milliseconds since the epoch. */
  readonly certificate_valid_to: number | null
  /** The total time of all requests. */
  readonly duration_ms: number
  /** Set if a redirect could not be followed. */
  readonly redirect_problem: string | null
}

const maxRedirects = 10

const redirects = new Set([301, 302, 303, 307, 308])

/**
 * Makes HTTP requests that check the health of a server. Unlike `OutgoingCalls`, it opens a new connection
 * for each request and verifies the certificate in a full handshake, because a kept connection
 * might work while new clients cannot connect.
 */
export class HttpProbe extends Context.Service<
  HttpProbe,
  {
    readonly run: (
      request: CallRequest,
      options: { readonly follows: boolean }
    ) => Effect.Effect<HttpProbeResponse>
  }
>()("@scheduling/calls/probes/HttpProbe") {
  static readonly layer: Layer.Layer<HttpProbe> = Layer.effect(
    HttpProbe,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const connect = makeConnect({
        allow: yield* EgressAllow,
        resolve: yield* Resolver,
        resumes: false
      })

      const send = (request: CallRequest, timeoutMs: number) => {
        const exchange = new Exchange(request.keep_bytes)
        let validTo: number | null = null
        const answered = (timeout: ExecutionError | null) => ({
          ...classifyExchange(
            exchange,
            timeout,
            request.success ?? null,
            clock.currentTimeMillisUnsafe(),
            request.secrets
          ),
          location: exchange.headers.location,
          certificate_valid_to: validTo
        })
        return Effect.callback<ReturnType<typeof answered>>((resume) => {
          const built = makeRequest(request, clock)
          if (Result.isFailure(built)) {
            const answer = {
              ...rejectedCallResult(built.failure),
              location: null,
              certificate_valid_to: null
            }
            return resume(Effect.succeed(answer))
          }
          const { outgoing } = built.success
          const connection = new Connection(outgoing.origin, (target, callback, ...more) =>
            connect(
              target,
              (...result) => {
                if (result[1] instanceof TLSSocket) validTo = expiryOf(result[1])
                callback(...result)
              },
              ...more
            )
          )
          exchange.begin(() => {
            connection.close()
            resume(Effect.sync(() => answered(null)))
          })
          connection.send(outgoing, exchange)
          return Effect.sync(() => connection.close())
        }).pipe(
          Effect.timeoutOrElse({
            duration: timeoutMs,
            orElse: () =>
              Effect.sync(() =>
                answered(
                  executionError(
                    "timeout",
                    `timeout after ${request.timeout_seconds} s while ${exchange.phase}`
                  )
                )
              )
          })
        )
      }

      return HttpProbe.of({
        run: Effect.fn("HttpProbe.run")(function* (first, { follows }) {
          const startedNanos = clock.monotonicTimeNanosUnsafe()
          const elapsedMs = () => Number(clock.monotonicTimeNanosUnsafe() - startedNanos) / 1e6
          const mayFollow = follows && (first.method === "GET" || first.method === "HEAD")
          let { headers, url } = first
          for (let hops = 0; ; hops++) {
            const leftMs = Math.max(1, first.timeout_seconds * 1_000 - elapsedMs())
            const { location, ...answer } = yield* send({ ...first, headers, url }, leftMs)
            const done = (redirect_problem: string | null): HttpProbeResponse => ({
              ...answer,
              duration_ms: Math.round(elapsedMs()),
              redirect_problem
            })
            const leads = mayFollow && redirects.has(answer.status_code ?? 0) && location !== null
            // A redirect is followed only if its response is complete.
            if (!leads || answer.error?.code === "timeout") return done(null)
            if (hops === maxRedirects) return done(`more than ${maxRedirects} redirects`)
            if (!URL.canParse(location, url)) return done("redirects to an invalid address")
            const next = new URL(location, url)
            next.hash = ""
            // Credentials are sent only to the origin that they were given for.
            if (next.origin !== new URL(url).origin) headers = {}
            url = next.href
          }
        })
      })
    })
  )
}

const expiryOf = (socket: TLSSocket): number | null => {
  const ms = Date.parse(socket.getPeerCertificate().valid_to ?? "")
  return Number.isNaN(ms) ? null : ms
}
