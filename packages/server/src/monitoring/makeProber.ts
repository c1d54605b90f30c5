import { notSentOutcome } from "@scheduling/calls/probes/checkErrors"
import { TargetChecks } from "@scheduling/calls/probes/TargetChecks"
import { Effect, Result } from "effect"
import { AccessTokens } from "../engine/index.ts"
import { type CheckedMonitor, Prober } from "./checks/index.ts"
import { makePrepareTarget } from "./prepareTarget.ts"

/** Creates the prober of all kinds of monitors whose targets are checked periodically. */
export const makeProber = Effect.gen(function* () {
  const prepare = yield* makePrepareTarget
  const targets = yield* TargetChecks
  const tokens = yield* AccessTokens
  return Prober.of({
    check: Effect.fnUntraced(function* (monitor: CheckedMonitor) {
      const prepared = yield* prepare(monitor)
      if (Result.isFailure(prepared)) return notSentOutcome(prepared.failure)
      const { target, token } = prepared.success
      const outcome = yield* targets.check(target, monitor.timeout_seconds)
      if (outcome.result.status_code === 401 && token !== undefined) {
        yield* tokens.reject(monitor.workspace_id, token)
      }
      return outcome
    })
  })
})
