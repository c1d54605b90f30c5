import type { CheckTarget } from "@scheduling/domain/workers/WorkerProtocol"
import { Context, Effect, Layer } from "effect"
import { makeCheckDns } from "./checkDns.ts"
import type { CheckOutcome } from "./checkErrors.ts"
import { makeCheckHttp } from "./checkHttp.ts"
import { makeCheckTcp } from "./checkTcp.ts"
import { DnsProbe } from "./DnsProbe.ts"
import { HttpProbe } from "./HttpProbe.ts"
import { TcpProbe } from "./TcpProbe.ts"

/** Checks the targets of monitors, for the service and for agents. */
export class TargetChecks extends Context.Service<
  TargetChecks,
  {
    readonly check: (target: CheckTarget, timeoutSeconds: number) => Effect.Effect<CheckOutcome>
  }
>()("@scheduling/calls/probes/TargetChecks") {
  static readonly layer: Layer.Layer<TargetChecks> = Layer.effect(
    TargetChecks,
    Effect.gen(function* () {
      const http = yield* makeCheckHttp
      const tcp = yield* makeCheckTcp
      const dns = yield* makeCheckDns
      return TargetChecks.of({
        check: (target, timeoutSeconds) => {
          switch (target.kind) {
            case "http":
              return http(target, timeoutSeconds)
            case "tcp":
              return tcp(target, timeoutSeconds)
            case "dns":
              return dns(target, timeoutSeconds)
          }
        }
      })
    })
  ).pipe(Layer.provide([HttpProbe.layer, TcpProbe.layer, DnsProbe.layer]))
}
