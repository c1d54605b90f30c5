import type { CallRequest } from "@scheduling/calls/CallRequest"
import { HttpProbe, type HttpProbeResponse } from "@scheduling/calls/probes/HttpProbe"
import { isUnreached } from "@scheduling/calls/probes/isUnreached"
import type { CheckError, CheckResult } from "@scheduling/domain/monitors/checks/Check"
import { searchedBytes } from "@scheduling/domain/monitors/http/HttpMonitor"
import { parseJsonPath, valueAt } from "@scheduling/domain/monitors/http/jsonPath"
import { Clock, Effect, Result } from "effect"
import { isDeepStrictEqual } from "node:util"
import { dayMs, Ids } from "../../core/index.ts"
import { AccessTokens, type FilledCall, makeFillCall } from "../../engine/index.ts"
import { timestampOf } from "../../store/index.ts"
import type { CheckOutcome, Prober } from "../checks/Checks.ts"
import { nothingMeasured } from "../checks/checkedKind.ts"
import { checkError, fromCallError, rejectedOutcome } from "../checks/checkErrors.ts"
import type { DueRow } from "../checks/ChecksRepo.ts"
import type { HttpTarget } from "./httpMonitorKind.ts"

/** Creates the prober that requests the URL of a monitor and checks the response. */
export const makeProbeHttp = Effect.gen(function* () {
  const ids = yield* Ids
  const probe = yield* HttpProbe
  const tokens = yield* AccessTokens
  const fillCall = yield* makeFillCall
  const prober: Prober = Effect.fnUntraced(function* (row) {
    const target = row.target as HttpTarget
    const id = yield* ids.next
    const startedMs = yield* Clock.currentTimeMillis
    const filled = yield* fillCall(
      runOf(row, id, startedMs),
      { call: callOf(row, target) },
      startedMs
    )
    if (Result.isFailure(filled)) return notSent(fromCallError(filled.failure.error))
    const answer = yield* probe.run(requestOf(row, target, id, filled.success), {
      follows: target.follow_redirects
    })
    const { token } = filled.success
    if (answer.status_code === 401 && token !== undefined) {
      yield* tokens.reject(row.workspace_id, token)
    }
    return outcomeOf(target, answer, yield* Clock.currentTimeMillis)
  })
  return prober
})

const runOf = (row: DueRow, id: string, scheduled_ms: number) => ({
  id,
  workspace_id: row.workspace_id,
  task_id: row.monitor_id,
  attempt: 1,
  scheduled_ms,
  position: null
})

const callOf = (row: DueRow, { auth, body, headers, method, url }: HttpTarget) => ({
  method,
  url,
  headers,
  body,
  timeout_seconds: row.timeout_seconds,
  retry_count: 0,
  call_options: auth === null ? null : { auth }
})

const requestOf = (
  row: DueRow,
  { body_contains, body_lacks, success_codes }: HttpTarget,
  execution_id: string,
  { call, secrets }: FilledCall
): CallRequest => ({
  workspace_id: row.workspace_id,
  execution_id,
  attempt: 1,
  task: null,
  method: call.method,
  url: call.url,
  headers: call.headers,
  body: call.body,
  timeout_seconds: row.timeout_seconds,
  keep_bytes: searchedBytes,
  secrets,
  success: {
    ...(success_codes !== null && { success_codes }),
    ...(body_contains !== null && { body_contains }),
    ...(body_lacks !== null && { body_lacks })
  }
})

const notSent = (error: CheckError): CheckOutcome => ({
  result: { ...nothingMeasured, error },
  host: null,
  isUnreached: false
})

const outcomeOf = (target: HttpTarget, answer: HttpProbeResponse, nowMs: number): CheckOutcome => {
  const { certificate_valid_to, duration_ms, error, exchange, status_code } = answer
  if (error?.code === "address_refused") return rejectedOutcome
  const result: CheckResult = {
    ...nothingMeasured,
    error: errorOf(target, answer, nowMs),
    duration_ms,
    dns_ms: exchange?.dns_ms ?? null,
    connect_ms: exchange?.connect_ms ?? null,
    tls_ms: exchange?.tls_ms ?? null,
    wait_ms: exchange?.wait_ms ?? null,
    status_code,
    certificate_expires_at:
      certificate_valid_to === null ? null : timestampOf(new Date(certificate_valid_to))
  }
  return {
    result,
    host: new URL(target.url.replace(/[?#].*$/s, "")).hostname.replace(/^\[|\]$/g, ""),
    isUnreached: error !== null && isUnreached(error)
  }
}

/** Returns the first rule that the response breaks. */
const errorOf = (
  { body_json, max_latency_ms, min_certificate_days }: HttpTarget,
  { certificate_valid_to, duration_ms, error, redirect_problem, response_body }: HttpProbeResponse,
  nowMs: number
): CheckError | null => {
  if (redirect_problem !== null) return checkError("too_many_redirects", redirect_problem)
  if (error !== null) return fromCallError(error)
  const jsonProblem = body_json === null ? undefined : problemOfJson(body_json, response_body ?? "")
  if (jsonProblem !== undefined) return checkError("response_rule", jsonProblem)
  if (max_latency_ms !== null && duration_ms > max_latency_ms) {
    return checkError(
      "too_slow",
      `the response took ${duration_ms} ms, more than ${max_latency_ms} ms`
    )
  }
  if (min_certificate_days !== null && certificate_valid_to !== null) {
    const days = Math.floor((certificate_valid_to - nowMs) / dayMs)
    if (days < min_certificate_days) {
      return checkError(
        "certificate_expiring",
        `the certificate is valid for ${days} more days, less than ${min_certificate_days}`
      )
    }
  }
  return null
}

const problemOfJson = (
  { equals, path }: NonNullable<HttpTarget["body_json"]>,
  body: string
): string | undefined => {
  const parsed = Result.try({ try: (): unknown => JSON.parse(body), catch: () => undefined })
  if (Result.isFailure(parsed)) return "the response is not JSON of at most 64 KiB"
  const { found, value } = valueAt(parsed.success, parseJsonPath(path) ?? [])
  if (!found) return `the response has nothing at ${path}`
  return isDeepStrictEqual(value, equals)
    ? undefined
    : `${path} is ${shown(value)} and not ${shown(equals)}`
}

const shownLength = 100

const shown = (value: unknown): string => {
  const json = JSON.stringify(value)
  return json.length > shownLength ? `${json.slice(0, shownLength)}…` : json
}
