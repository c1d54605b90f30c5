import { forbiddenTargetCheck } from "@scheduling/calls/egress/forbiddenTargetCheck"
import type { CallAuth } from "@scheduling/domain/calls/CallAuth"
import { mergedHeaders } from "@scheduling/domain/calls/CallHeaders"
import {
  restoredHeaders,
  maskedDefinitionHeaders
} from "@scheduling/domain/calls/credentialHeaders"
import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import { valuesUsedByCall } from "@scheduling/domain/calls/TemplateCall"
import {
  httpDefaults,
  type HttpMonitor,
  type HttpMonitorInput,
  type HttpMonitorUpdate,
  httpTargetDefaults,
  httpTargetProblem,
  type JsonRule
} from "@scheduling/domain/monitors/http/HttpMonitor"
import { Effect } from "effect"
import { checkedKind } from "../checks/checkedKind.ts"
import { toCheckedFields } from "../checks/CheckedRow.ts"
import { withGivenFields } from "../checks/withGivenFields.ts"

/** The request of a check, and the expected response. */
export interface HttpTarget {
  readonly url: string
  readonly method: CallMethod
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly auth: CallAuth | null
  readonly follow_redirects: boolean
  readonly success_codes: ReadonlyArray<string> | null
  readonly body_contains: string | null
  readonly body_lacks: string | null
  readonly body_json: JsonRule | null
  readonly max_latency_ms: number | null
  readonly min_certificate_days: number | null
}

/** Defines the HTTP monitor, which sends a request and checks the response. */
export const httpMonitorKind = Effect.gen(function* () {
  const checkTargets = yield* forbiddenTargetCheck
  return yield* checkedKind<HttpTarget, HttpMonitorInput, HttpMonitorUpdate, HttpMonitor>({
    kind: "http",
    defaults: httpDefaults,
    toTarget: (input, before) =>
      targetFrom({ ...httpTargetDefaults, url: input.url }, input, before),
    changeTarget: (target, { headers, ...changes }) =>
      targetFrom(
        target,
        {
          ...changes,
          ...(headers !== undefined && { headers: mergedHeaders(target.headers, headers) })
        },
        target
      ),
    problemOf: httpTargetProblem,
    identityOf: ({ method, url }) => ({ method, url }),
    secretsOf: (target) => [...valuesUsedByCall(target, target.auth ?? undefined).secrets],
    checkTarget: ({ url }) =>
      url === undefined ? Effect.void : checkTargets([{ path: ["url"], url }]),
    show: ({ target, ...row }, at) => ({
      ...toCheckedFields({ ...row, target }, at),
      ...target,
      headers: maskedDefinitionHeaders(target.headers)
    })
  })
})

/** Returns the target with the given fields. A masked credential keeps its value from `before`. */
const targetFrom = (
  target: HttpTarget,
  given: Partial<HttpTarget>,
  before: HttpTarget | undefined
): HttpTarget => {
  const changed = withGivenFields(target, given)
  return { ...changed, headers: restoredHeaders(changed.headers, before?.headers ?? {}) }
}
