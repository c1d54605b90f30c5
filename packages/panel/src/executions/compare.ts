import type { Attempt, ExecutionDetail } from "@scheduling/sdk"
import { formatDuration } from "../ui/values/format.ts"
import { indentJson } from "../ui/values/indentJson.ts"
import { describeError } from "../ui/values/describeError.ts"

/**
 * A value that differs between two executions. Undefined where an execution does not have the
 * value.
 */
export interface Difference {
  readonly field: string
  readonly good: string | undefined
  readonly this: string | undefined
}

/** Headers that differ in every execution and explain nothing. */
const changing = new Set([
  "age",
  "content-length",
  "date",
  "etag",
  "idempotency-key",
  "scheduling-complete-url",
  "traceparent",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp",
  "x-request-id",
  "x-scheduling-execution-id",
  "x-scheduling-scheduled-for"
])

/** The smallest difference between two durations that is worth mentioning. */
const minMs = 50

const lastAttempt = ({ attempts }: ExecutionDetail): Attempt | undefined => attempts.at(-1)

/**
 * Lists the differences between an execution and the last successful one: request, response and
 * duration.
 */
export const differencesOf = (
  good: ExecutionDetail,
  execution: ExecutionDetail
): ReadonlyArray<Difference> => {
  const [one, other] = [lastAttempt(good), lastAttempt(execution)]
  // An attempt's request can be unknown, which does not count as a difference.
  const isSentKnown = one?.request != null && other?.request != null
  const values = (of: ExecutionDetail, attempt: Attempt | undefined) =>
    new Map<string, string | undefined>([
      // The status code says as much as the message of this error.
      [
        "Result",
        of.error?.code === "http_status"
          ? of.status
          : of.error === null
            ? of.status
            : describeError(of.error.message)
      ],
      ["Status code", textOf(attempt?.status_code)],
      [
        "URL",
        isSentKnown && attempt?.request
          ? `${attempt.request.method} ${attempt.request.url}`
          : undefined
      ],
      ...headersOf("Request header", isSentKnown ? attempt?.request?.headers : null),
      ["Request body", (isSentKnown && indentJson(attempt?.request?.body ?? "")) || undefined],
      ...headersOf("Response header", attempt?.response_headers),
      ["Response", indentJson(attempt?.response_body ?? "") || undefined],
      [
        "Sent from",
        attempt?.made_by
          ? `${attempt.made_by.kind} ${attempt.made_by.name ?? attempt.made_by.id}`
          : undefined
      ],
      ["Attempts", textOf(of.attempts_count)]
    ])
  const [before, after] = [values(good, one), values(execution, other)]
  const fields = [...new Set([...before.keys(), ...after.keys()])]
  return [
    ...fields.flatMap((field) => {
      const [was, is] = [before.get(field), after.get(field)]
      return was === is ? [] : [{ field, good: was, this: is }]
    }),
    ...slower(one, other)
  ]
}

const textOf = (value: number | null | undefined) => (value == null ? undefined : String(value))

const headersOf = (kind: string, headers: Readonly<Record<string, string>> | null | undefined) =>
  Object.entries(headers ?? {})
    .filter(([name]) => !changing.has(name.toLowerCase()))
    .map(([name, value]) => [`${kind} ${name}`, value] as const)

/** The phases of a call, in order. */
export const phasesOf = (attempt: Attempt) => {
  const { connect_ms, dns_ms, duration_ms, tls_ms, wait_ms } = attempt
  const known = [dns_ms, connect_ms, tls_ms, wait_ms]
  const sum = known.reduce<number>((total, ms) => total + (ms ?? 0), 0)
  const isKnown = known.some((ms) => ms !== null) && duration_ms !== null
  return [
    ["DNS", dns_ms],
    ["Connect", connect_ms],
    ["TLS", tls_ms],
    ["Waiting for response", wait_ms],
    ["Download", isKnown ? Math.max(0, duration_ms - sum) : null]
  ] as const
}

/** The phases that took at least twice as long, and at least `minMs` longer. */
const slower = (
  one: Attempt | undefined,
  other: Attempt | undefined
): ReadonlyArray<Difference> => {
  if (one === undefined || other === undefined) return []
  const before = new Map<string, number | null>(phasesOf(one))
  return phasesOf(other).flatMap(([phase, ms]) => {
    const was = before.get(phase) ?? null
    return ms === null || was === null || ms < 2 * was || ms - was < minMs
      ? []
      : [{ field: `Duration: ${phase}`, good: formatDuration(was), this: formatDuration(ms) }]
  })
}
