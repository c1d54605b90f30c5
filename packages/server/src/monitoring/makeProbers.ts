import { notSentOutcome } from "@scheduling/calls/probes/checkErrors"
import { TargetChecks } from "@scheduling/calls/probes/TargetChecks"
import { Effect, Result } from "effect"
import { AccessTokens } from "../engine/index.ts"
import type { Prober } from "./checks/index.ts"
import { makePrepareTarget } from "./prepareTarget.ts"

/** Creates a prober for each kind of monitor whose targets are checked periodically. */
export const makeProbers = Effect.gen(function* () {
  const prepare = yield* makePrepareTarget
  const targets = yield* TargetChecks
  const tokens = yield* AccessTokens
  const probe: Prober = Effect.fnUntraced(function* (row) {
    const prepared = yield* prepare(row)
    if (Result.isFailure(prepared)) return notSentOutcome(prepared.failure)
    const { target, token } = prepared.success
    const outcome = yield* targets.check(target, row.timeout_seconds)
    if (outcome.result.status_code === 401 && token !== undefined) {
      yield* tokens.reject(row.workspace_id, token)
    }
    return outcome
  })
  return { http: probe, tcp: probe, dns: probe }
})
