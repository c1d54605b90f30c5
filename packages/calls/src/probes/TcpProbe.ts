import { type ExecutionError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { Clock, Context, Effect, Layer } from "effect"
import type { Socket } from "node:net"
import { describeError } from "../describeError.ts"
import { type ConnectTimes, EgressAllow, makeConnect, Resolver } from "../egress/Egress.ts"

export interface TcpProbeRequest {
  readonly host: string
  readonly port: number
  readonly send: string | null
  readonly expect: string | null
  readonly timeout_seconds: number
}

export interface TcpProbeResult extends ConnectTimes {
  readonly error: ExecutionError | null
  /** The time from the opening of the connection until the expected text arrived. */
  readonly wait_ms: number | null
  readonly duration_ms: number
}

/** The number of bytes from the server that are searched for the expected text. */
const searchedBytes = 64 * 1024

/**
 * Opens TCP connections under the egress rules. Optionally sends a text and waits for an expected
 * text.
 */
export class TcpProbe extends Context.Service<
  TcpProbe,
  { readonly run: (request: TcpProbeRequest) => Effect.Effect<TcpProbeResult> }
>()("@scheduling/calls/probes/TcpProbe") {
  static readonly layer: Layer.Layer<TcpProbe> = Layer.effect(
    TcpProbe,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const connect = makeConnect({ allow: yield* EgressAllow, resolve: yield* Resolver })

      return TcpProbe.of({
        run: Effect.fn("TcpProbe.run")(function* (request) {
          const { expect, host, port, send, timeout_seconds } = request
          const startedNanos = clock.monotonicTimeNanosUnsafe()
          const elapsedMs = () => Number(clock.monotonicTimeNanosUnsafe() - startedNanos) / 1e6
          const times: ConnectTimes = { dns_ms: null, connect_ms: null, tls_ms: null }
          let openedMs: number | null = null
          const answer = (error: ExecutionError | null): TcpProbeResult => {
            const duration_ms = elapsedMs()
            return {
              error,
              dns_ms: rounded(times.dns_ms),
              connect_ms: rounded(times.connect_ms),
              tls_ms: null,
              wait_ms:
                error !== null || openedMs === null || expect === null
                  ? null
                  : Math.round(duration_ms - openedMs),
              duration_ms: Math.round(duration_ms)
            }
          }
          return yield* Effect.callback<TcpProbeResult>((resume) => {
            let open: Socket | undefined
            const end = (error: ExecutionError | null) => {
              open?.destroy()
              socket?.destroy()
              resume(Effect.sync(() => answer(error)))
            }
            const socket = connect(
              { host, hostname: host, port, isSecure: false },
              (error, connected) => {
                if (error !== null) return end(describeError(error))
                open = connected
                openedMs = elapsedMs()
                if (send !== null) connected.write(send)
                if (expect === null) return end(null)
                connected.on("error", (failure) => end(describeError(failure)))
                awaitText(connected, expect, end)
              },
              undefined,
              times
            )
            return Effect.sync(() => {
              open?.destroy()
              socket?.destroy()
            })
          }).pipe(
            Effect.timeoutOrElse({
              duration: `${timeout_seconds} seconds`,
              orElse: () =>
                Effect.sync(() => {
                  const phase = openedMs === null ? "connecting" : "waiting for the expected text"
                  return answer(
                    executionError("timeout", `timeout after ${timeout_seconds} s while ${phase}`)
                  )
                })
            })
          )
        })
      })
    })
  )
}

const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms))

/** Reads until the text has arrived or can no longer arrive. */
const awaitText = (
  socket: Socket,
  expected: string,
  end: (error: ExecutionError | null) => void
) => {
  const wanted = Buffer.from(expected)
  let received: Buffer = Buffer.alloc(0)
  const missing = (why: string) =>
    end(executionError("response_rule", `the server did not send the expected text ${why}`))
  socket
    .on("data", (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      if (received.includes(wanted)) end(null)
      else if (received.length > searchedBytes) missing("in its first 64 KiB")
    })
    .on("close", () => missing("before it closed the connection"))
}
