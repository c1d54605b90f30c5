import { SecureConnections } from "@scheduling/calls/OutgoingCalls"
import { EgressAllow } from "@scheduling/calls/egress/Egress"
import { OwnEchoUrl, ownEchoUrlOf } from "@scheduling/calls/exchange/OwnEchoUrl"
import { tlsThreads } from "@scheduling/calls/threads/tlsThreads"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { AppConfig } from "../core/index.ts"

/**
 * Provides the settings of outgoing calls: the private networks that they may reach, the threads
 * that open TLS connections, and the URL of this node's own echo.
 */
export const OutgoingCallSettingsLayer = Layer.unwrap(
  Effect.gen(function* () {
    const { callThreads, egressAllow } = yield* AppConfig
    const { address } = yield* HttpServer.HttpServer
    return Layer.mergeAll(
      Layer.succeed(EgressAllow, egressAllow),
      Layer.succeed(SecureConnections, callThreads === 0 ? undefined : tlsThreads(callThreads)),
      Layer.succeed(OwnEchoUrl, ownEchoUrlOf(HttpServer.formatAddress(address)))
    )
  })
)
