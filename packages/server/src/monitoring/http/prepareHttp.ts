import { toCheckError } from "@scheduling/calls/probes/checkErrors"
import type { CheckTarget } from "@scheduling/domain/workers/WorkerProtocol"
import { Clock, Effect, Result } from "effect"
import { Ids } from "../../core/index.ts"
import { type FilledCall, makeFillCall } from "../../engine/index.ts"
import type { CheckedMonitor } from "../checks/index.ts"
import type { HttpTarget } from "./httpMonitorKind.ts"

/** Creates the function that substitutes the placeholders in an HTTP monitor's request. */
export const makePrepareHttp = Effect.gen(function* () {
  const ids = yield* Ids
  const fillCall = yield* makeFillCall
  return Effect.fnUntraced(function* (monitor: CheckedMonitor, target: HttpTarget) {
    const id = yield* ids.next
    const startedMs = yield* Clock.currentTimeMillis
    const run = runOf(monitor, id, startedMs)
    const filled = yield* fillCall(run, { call: callOf(monitor, target) }, startedMs)
    return Result.mapBoth(filled, {
      onSuccess: (call) => ({ target: toCheckTarget(target, id, call), token: call.token }),
      onFailure: ({ error }) => toCheckError(error)
    })
  })
})

const runOf = (monitor: CheckedMonitor, id: string, scheduled_ms: number) => ({
  id,
  workspace_id: monitor.workspace_id,
  task_id: monitor.monitor_id,
  attempt: 1,
  scheduled_ms,
  position: null
})

const callOf = (monitor: CheckedMonitor, { auth, body, headers, method, url }: HttpTarget) => ({
  method,
  url,
  headers,
  body,
  timeout_seconds: monitor.timeout_seconds,
  retry_count: 0,
  call_options: auth === null ? null : { auth }
})

const toCheckTarget = (
  { body_contains, body_lacks, success_codes, ...target }: HttpTarget,
  request_id: string,
  { call, secrets }: FilledCall
): CheckTarget => ({
  kind: "http",
  request_id,
  method: call.method,
  url: call.url,
  headers: call.headers,
  body: call.body,
  follow_redirects: target.follow_redirects,
  success: {
    ...(success_codes !== null && { success_codes }),
    ...(body_contains !== null && { body_contains }),
    ...(body_lacks !== null && { body_lacks })
  },
  body_json: target.body_json,
  max_latency_ms: target.max_latency_ms,
  min_certificate_days: target.min_certificate_days,
  secrets
})
