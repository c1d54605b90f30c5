import { isUnreached } from "@scheduling/calls/probes/isUnreached"
import { TcpProbe } from "@scheduling/calls/probes/TcpProbe"
import { Effect } from "effect"
import { nothingMeasured } from "../checks/checkedKind.ts"
import { fromCallError, rejectedOutcome } from "../checks/checkErrors.ts"
import type { Prober } from "../checks/Checks.ts"
import type { TcpTarget } from "./tcpMonitorKind.ts"

/** Creates the prober that connects to the server of a monitor. */
export const makeProbeTcp = Effect.map(TcpProbe, (probe): Prober =>
  Effect.fnUntraced(function* ({ target, timeout_seconds }) {
    const { error, ...times } = yield* probe.run({ ...(target as TcpTarget), timeout_seconds })
    if (error?.code === "address_refused") return rejectedOutcome
    return {
      result: {
        ...nothingMeasured,
        ...times,
        error: error === null ? null : fromCallError(error)
      },
      host: (target as TcpTarget).host,
      isUnreached: error !== null && isUnreached(error)
    }
  })
)
