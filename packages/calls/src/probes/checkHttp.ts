import type { CheckError, CheckResult } from "@scheduling/domain/monitors/checks/Check"
import { maxSearchedBytes } from "@scheduling/domain/monitors/http/HttpMonitor"
import { parseJsonPath, valueAt } from "@scheduling/domain/monitors/http/jsonPath"
import type { CheckTarget } from "@scheduling/domain/workers/WorkerProtocol"
import { Clock, Effect, Result } from "effect"
import { isDeepStrictEqual } from "node:util"
import {
  checkError,
  type CheckOutcome,
  toCheckError,
  noMeasurements,
  rejectedOutcome
} from "./checkErrors.ts"
import { HttpProbe, type HttpProbeResponse } from "./HttpProbe.ts"
import { isTargetUnreached } from "./isTargetUnreached.ts"

type HttpTarget = Extract<CheckTarget, { readonly kind: "http" }>

const dayMs = 86_400_000

/** Creates the check that requests a URL and compares the response with the rules. */
export const makeCheckHttp = Effect.map(HttpProbe, (probe) =>
  Effect.fnUntraced(function* (
    target: HttpTarget,
    timeout_seconds: number
  ): Effect.fn.Return<CheckOutcome> {
    const answer = yield* probe.run(
      {
        ...target,
        workspace_id: "",
        execution_id: target.request_id,
        attempt: 1,
        task: null,
        timeout_seconds,
        keep_bytes: maxSearchedBytes
      },
      { follows: target.follow_redirects }
    )
    return outcomeOf(target, answer, yield* Clock.currentTimeMillis)
  })
)

const outcomeOf = (target: HttpTarget, answer: HttpProbeResponse, nowMs: number): CheckOutcome => {
  const { certificate_valid_to, duration_ms, error, exchange, status_code } = answer
  if (error?.code === "address_refused") return rejectedOutcome
  const result: CheckResult = {
    ...noMeasurements,
    error: errorOf(target, answer, nowMs),
    duration_ms,
    dns_ms: exchange?.dns_ms ?? null,
    connect_ms: exchange?.connect_ms ?? null,
    tls_ms: exchange?.tls_ms ?? null,
    wait_ms: exchange?.wait_ms ?? null,
    status_code,
    certificate_expires_at:
      certificate_valid_to === null ? null : new Date(certificate_valid_to).toISOString()
  }
  return {
    result,
    host: new URL(target.url.replace(/[?#].*$/s, "")).hostname.replace(/^\[|\]$/g, ""),
    isUnreached: error !== null && isTargetUnreached(error)
  }
}

/** Returns the first rule that the response breaks. */
const errorOf = (
  { body_json, max_latency_ms, min_certificate_days }: HttpTarget,
  { certificate_valid_to, duration_ms, error, redirect_problem, response_body }: HttpProbeResponse,
  nowMs: number
): CheckError | null => {
  if (redirect_problem !== null) return checkError("too_many_redirects", redirect_problem)
  if (error !== null) return toCheckError(error)
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
