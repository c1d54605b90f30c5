import type { CheckTarget } from "@scheduling/domain/workers/WorkerProtocol"
import { Effect } from "effect"
import { type CheckOutcome, toCheckError, noMeasurements, rejectedOutcome } from "./checkErrors.ts"
import { isTargetUnreached } from "./isTargetUnreached.ts"
import { TcpProbe } from "./TcpProbe.ts"

type TcpTarget = Extract<CheckTarget, { readonly kind: "tcp" }>

/** Creates the check that connects to a server. */
export const makeCheckTcp = Effect.map(TcpProbe, (probe) =>
  Effect.fnUntraced(function* (
    target: TcpTarget,
    timeout_seconds: number
  ): Effect.fn.Return<CheckOutcome> {
    const { error, ...times } = yield* probe.run({ ...target, timeout_seconds })
    if (error?.code === "address_refused") return rejectedOutcome
    return {
      result: {
        ...noMeasurements,
        ...times,
        error: error === null ? null : toCheckError(error)
      },
      host: target.host,
      isUnreached: error !== null && isTargetUnreached(error)
    }
  })
)
