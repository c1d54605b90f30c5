import type { CheckError } from "@scheduling/domain/monitors/checks/Check"
import type { CheckTarget } from "@scheduling/domain/workers/WorkerProtocol"
import { Effect, Result } from "effect"
import type { AccessToken } from "../engine/index.ts"
import type { DueMonitorRow } from "./checks/index.ts"
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
    (row: DueMonitorRow): Effect.Effect<Result.Result<PreparedTarget, CheckError>> => {
      switch (row.kind) {
        case "http":
          return prepareHttp(row, row.target as HttpTarget)
        case "tcp":
          return ready({ kind: "tcp", ...(row.target as TcpTarget) })
        case "dns":
          return ready({ kind: "dns", ...(row.target as DnsTarget) })
        default:
          return Effect.die(new Error(`monitors of the kind ${row.kind} have no target`))
      }
    }
)

const ready = (target: CheckTarget) => Effect.succeed(Result.succeed({ target }))
