import { type TlsCheckResult, TlsProbe } from "@scheduling/calls/tls/TlsProbe"
import { Clock, Effect } from "effect"
import { elapsedMs } from "../../core/index.ts"
import type { SslSettings } from "./SslRow.ts"

interface TimedCheck {
  readonly result: TlsCheckResult
  readonly duration_ms: number
}

/** Creates the function that checks the certificate of a server and measures the duration. */
export const makeCheckCertificate = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const probe = yield* TlsProbe
  return Effect.fnUntraced(function* ({
    host,
    port,
    protocol,
    server_name
  }: Pick<
    SslSettings,
    "host" | "port" | "protocol" | "server_name"
  >): Effect.fn.Return<TimedCheck> {
    const begunMs = elapsedMs(clock)
    const result = yield* probe.check({ host, port, protocol, server_name: server_name ?? host })
    return { result, duration_ms: Math.round(elapsedMs(clock) - begunMs) }
  })
})
