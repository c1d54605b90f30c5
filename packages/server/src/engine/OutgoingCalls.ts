import { SecureConnections } from "@scheduling/calls/Call"
import { EgressAllow } from "@scheduling/calls/egress/Egress"
import { OwnEcho, ownEchoOf } from "@scheduling/calls/exchange/OwnEcho"
import { tlsThreads } from "@scheduling/calls/threads/tlsThreads"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { AppConfig } from "../core/index.ts"

/**
 * The client for the calls of tasks, and the addresses outside the public Internet that it may
 * reach.
 */
export const OutgoingCalls = Layer.unwrap(
  Effect.gen(function* () {
    const { callThreads, egressAllow } = yield* AppConfig
    const { address } = yield* HttpServer.HttpServer
    return Layer.mergeAll(
      Layer.succeed(EgressAllow, egressAllow),
      Layer.succeed(SecureConnections, callThreads === 0 ? undefined : tlsThreads(callThreads)),
      Layer.succeed(OwnEcho, ownEchoOf(HttpServer.formatAddress(address)))
    )
  })
)
