import type { CheckError } from "@scheduling/domain/monitors/checks/Check"
import type { CheckTarget } from "@scheduling/domain/workers/WorkerProtocol"
import { Effect, Result } from "effect"
import type { AccessToken } from "../engine/index.ts"
import type { CheckedMonitor } from "./checks/index.ts"
import type { DnsTarget } from "./dns/dnsMonitorKind.ts"
import type { HttpTarget } from "./http/httpMonitorKind.ts"
import { makePrepareHttp } from "./http/prepareHttp.ts"
import type { TcpTarget } from "./tcp/tcpMonitorKind.ts"

/** A target whose placeholders are substituted, so that this node or an agent can check it. */
export interface PreparedTarget {
  readonly target: CheckTarget
  /** The request's access token. If the response is 401, the token may have been revoked. */
  readonly token?: AccessToken | undefined
}

/** Creates the function that substitutes the placeholders in a monitor's target. */
export const makePrepareTarget = Effect.map(
  makePrepareHttp,
  (prepareHttp) =>
    (monitor: CheckedMonitor): Effect.Effect<Result.Result<PreparedTarget, CheckError>> => {
      switch (monitor.kind) {
        case "http":
          return prepareHttp(monitor, monitor.target as HttpTarget)
        case "tcp":
          return ready({ kind: "tcp", ...(monitor.target as TcpTarget) })
        case "dns":
          return ready({ kind: "dns", ...(monitor.target as DnsTarget) })
        default:
          return Effect.die(new Error(`monitors of the kind ${monitor.kind} have no target`))
      }
    }
)

const ready = (target: CheckTarget) => Effect.succeed(Result.succeed({ target }))
