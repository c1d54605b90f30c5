import { sections } from "@scheduling/domain/definitions/DefinitionsDocument"
import { apiKeyPrefix } from "@scheduling/domain/api-keys/ApiKey"
import { secretRegExp } from "@scheduling/domain/auth/secretPatterns"
import {
  type ExpectedResponse,
  malformedRequestErrors,
  unroutedErrors
} from "../contract/Contract.ts"
import { requestIdPrefix } from "../exchange/RequestDraft.ts"
import { bodyOf, errorOf, type Exchange, targetOf } from "../exchange/Exchange.ts"
import { judgeAccess } from "./Access.ts"
import { batchItemsOf, judgeItemCount } from "./Batch.ts"
import { judgeContent } from "./Content.ts"
import type { WireResponse } from "../exchange/Wire.ts"
import type { World } from "../world/World.ts"

const timing = ["schedule", "every", "anchor"]

/**
 * Fields that must also satisfy rules about other fields or the current time, which schemas cannot
 * express. The server can reject a request with these fields even if the request is valid according
 * to its schema.
 */
const rulesBetweenFields: Readonly<Record<string, ReadonlyArray<string>>> = {
  "auth.register": ["password"],
  "auth.changePassword": ["new_password"],
  "auth.deleteMe": ["current_password"],
  "auth.updateMe": ["current_password"],
  "chains.create": [
    ...timing,
    "depends_on",
    "ends_at",
    "flow",
    "queue_id",
    "queue_key",
    "timeout_seconds"
  ],
  "cron.create": [
    ...timing,
    "depends_on",
    "retry",
    "ends_at",
    "flow",
    "queue_id",
    "queue_key",
    "timeout_seconds"
  ],
  "chains.update": [
    ...timing,
    "depends_on",
    "ends_at",
    "flow",
    "queue_id",
    "queue_key",
    "timeout_seconds"
  ],
  "cron.update": [
    ...timing,
    "depends_on",
    "auth",
    "retry",
    "ends_at",
    "flow",
    "queue_id",
    "queue_key",
    "timeout_seconds"
  ],
  "chains.upsert": [
    ...timing,
    "depends_on",
    "ends_at",
    "flow",
    "queue_id",
    "queue_key",
    "timeout_seconds"
  ],
  "cron.preview": timing,
  "cron.upsert": [
    ...timing,
    "depends_on",
    "retry",
    "ends_at",
    "flow",
    "queue_id",
    "queue_key",
    "timeout_seconds"
  ],
  "delayed.create": ["run_at", "retry", "flow", "queue_id", "queue_key", "timeout_seconds"],
  "delayed.update": [
    "auth",
    "body",
    "run_at",
    "retry",
    "flow",
    "queue_id",
    "queue_key",
    "timeout_seconds"
  ],
  "delayed.upsert": ["run_at", "retry", "flow", "queue_id", "queue_key", "timeout_seconds"],
  "queues.create": ["max_concurrency"],
  "queues.update": ["max_concurrency"],
  "processMonitors.create": ["depends_on", "worker_id", "max_count"],
  "processMonitors.update": ["depends_on", "worker_id", "max_count"],
  "processMonitors.upsert": ["depends_on", "worker_id", "max_count"],
  "cron.listExecutions": ["from"],
  "executions.list": ["from"],
  "executions.rerunMany": ["from"],
  "executions.getStats": ["from"],
  "chains.backfill": ["from", "to"],
  "cron.backfill": ["from", "to"],
  "incidents.list": ["from"],
  "workspaces.listAuditEvents": ["from"],
  "forecast.get": ["from", "to"],
  "activity.timeline": ["from", "to"],
  "heartbeatMonitors.create": ["depends_on", "min_interval_seconds", "max_duration_seconds"],
  "heartbeatMonitors.upsert": [
    "depends_on",
    "ping_id",
    "min_interval_seconds",
    "max_duration_seconds"
  ],
  "heartbeatMonitors.update": [
    "depends_on",
    "timezone",
    "min_interval_seconds",
    "max_duration_seconds"
  ],
  // The records that these fields refer to must exist in the workspace.
  "sslMonitors.create": ["depends_on"],
  "sslMonitors.update": ["depends_on"],
  "sslMonitors.upsert": ["depends_on"],
  "httpMonitors.create": ["depends_on"],
  "httpMonitors.update": ["depends_on"],
  "httpMonitors.upsert": ["depends_on"],
  "tcpMonitors.create": ["depends_on"],
  "tcpMonitors.update": ["depends_on"],
  "tcpMonitors.upsert": ["depends_on"],
  "dnsMonitors.create": ["depends_on"],
  "dnsMonitors.update": ["depends_on"],
  "dnsMonitors.upsert": ["depends_on"],
  // Only the service itself can test a monitor.
  "httpMonitors.test": ["places"],
  "tcpMonitors.test": ["places"],
  "dnsMonitors.test": ["places"],
  // A channel's configuration depends on its kind and on the operator's settings.
  "notifications.createChannel": ["kind", "config"],
  "notifications.updateChannel": ["config"],
  "notifications.upsertChannel": ["kind", "config"],
  // The records that these fields refer to must exist in the workspace.
  "maintenance.upsert": ["monitor_ids", "monitor_keys", "task_ids", "task_keys"],
  "escalations.upsert": ["steps"],
  "notifications.replaceSettings": ["rules"],
  "statusPages.upsert": ["groups"],
  // A document must satisfy the rules of all its records.
  "definitions.apply": ["owner", ...sections, "notification_settings"]
}

export const judge = (exchange: Exchange, world: World): ReadonlyArray<string> =>
  isUnknownPage(exchange)
    ? judgeSecrecy(exchange, world)
    : [
        ...judgeEnvelope(exchange),
        ...judgeSecrecy(exchange, world),
        ...(exchange.answer.status < 400 ? judgeSuccess(exchange) : judgeError(exchange)),
        ...judgeAccess(exchange, world),
        ...judgeContent(exchange),
        ...judgeResult(exchange),
        ...judgeItemCount(exchange),
        ...batchItemsOf(exchange).flatMap((item) => [...judgeContent(item), ...judgeResult(item)])
      ]

/** Returns whether the response is the page that the panel serves for unknown paths. */
const isUnknownPage = ({ answer, here, request }: Exchange): boolean =>
  answer.status === 404 &&
  here.size === 0 &&
  !/^\/v1(?:\/|\?|$)/.test(request.target) &&
  request.headers.some(([name, value]) => name === "accept" && value.includes("text/html"))

const judgeEnvelope = ({ answer, request }: Exchange): ReadonlyArray<string> => {
  const { headers, status, text } = answer
  const id = headers.get("x-request-id")
  const [, asked = ""] = request.headers.find(([name]) => name === "x-request-id") ?? []
  const isRead = !isUnread(answer)
  const type = headers.get("content-type")
  return [
    ...(status >= 500 ? [`${status}: the server failed`] : []),
    ...(id === undefined ? ["no x-request-id"] : []),
    ...(asked.startsWith(requestIdPrefix) && isRead && id !== asked
      ? [`x-request-id ${id} for ${asked}`]
      : []),
    ...(text !== "" && type !== "application/json" ? [`a body of type ${type}`] : []),
    ...(isRead && headers.get("x-content-type-options") !== "nosniff" ? ["no nosniff"] : []),
    ...(secretFields.test(text) && headers.get("cache-control") !== "no-store"
      ? ["a cacheable secret"]
      : [])
  ]
}

/** Returns whether the response has no body to check, as for HEAD. */
const isUnread = (answer: WireResponse) =>
  answer.text === ""
    ? [...malformedRequestErrors.values()].some(({ status }) => status === answer.status)
    : malformedRequestErrors.has(errorOf(answer)?.error ?? "")

/** Error codes that concern a password or a code in the body, not the request's credential. */
const inBody = new Set(["invalid_credentials", "invalid_code"])

/** Matches fields that contain a secret in plain text, by their names in the contract. */
const secretFields = new RegExp(
  `"(?:key":"${apiKeyPrefix}|(?:secret|token|access_token|refresh_token)":")`
)

const judgeSecrecy = (exchange: Exchange, world: World): ReadonlyArray<string> => {
  const { answer, draft, request } = exchange
  const shown = (answer.text.match(secretRegExp) ?? []).filter((secret) =>
    world.shownOnce.has(secret)
  )
  const said = [
    ...draft.secrets,
    ...request.headers.flatMap(([name, value]) =>
      name === "authorization" ? [value.replace(/^bearer\s+/i, "")] : []
    )
  ].filter(
    (secret) => secret.length >= 12 && answer.text.includes(JSON.stringify(secret).slice(1, -1))
  )
  return [
    ...(shown.length > 0 ? ["a secret that is shown only once"] : []),
    ...(said.length > 0 ? ["a secret of the request"] : [])
  ]
}

const judgeSuccess = (exchange: Exchange): ReadonlyArray<string> => {
  const { answer, here, request } = exchange
  const target = targetOf(exchange)
  if (request.method === "OPTIONS" && here.size > 0) {
    return answer.status === 204 && answer.headers.get("allow") === methodsOf(here)
      ? []
      : ["no preflight"]
  }
  if (target === undefined) return [`${answer.status} for a path that is not in the contract`]
  const success = target.successes.get(answer.status)
  if (success === undefined)
    return [`${answer.status} is not ${[...target.successes.keys()].join(" or ")}`]
  if (request.method === "HEAD") return []
  if (answer.status === 201 && answer.headers.get("location")?.startsWith("/v1/") !== true) {
    return ["201 without a location"]
  }
  return judgeBody(answer, success)
}

const judgeError = (exchange: Exchange): ReadonlyArray<string> => {
  const { answer, here, request } = exchange
  if (request.method === "HEAD") return answer.text === "" ? [] : ["a body for HEAD"]
  const error = errorOf(answer)
  if (error === undefined) return ["not an error object"]
  if (bodyOf(answer)["request_id"] !== answer.headers.get("x-request-id")) {
    return ["request_id and x-request-id differ"]
  }
  const code = error.error
  const target = targetOf(exchange)
  const expected = malformedRequestErrors.get(code) ?? (target?.errors ?? unroutedErrors).get(code)
  if (expected === undefined) return [`${answer.status} ${code} is not declared`]
  if (expected.status !== answer.status) return [`${code} with ${answer.status}`]
  const isLost = target === undefined && (code === "not_found" || code === "method_not_allowed")
  if (isLost && (code === "not_found") !== (here.size === 0))
    return [`${code}, although the resource exists`]
  if (isLost && code === "not_found" && error["resource"] !== "route")
    return ["no route, no resource"]
  if (code === "method_not_allowed" && answer.headers.get("allow") !== methodsOf(here)) {
    return [`allow: ${answer.headers.get("allow")}, not ${methodsOf(here)}`]
  }
  return judgeBody(answer, expected)
}

/** Returns the methods in the format of the `Allow` header. */
const methodsOf = (here: Exchange["here"]) =>
  [...here.keys(), ...(here.has("GET") ? ["HEAD"] : [])].toSorted().join(", ")

const judgeBody = (
  { headers, text }: WireResponse,
  { decode, headersOf }: ExpectedResponse
): ReadonlyArray<string> => {
  if (decode === undefined) return text === "" ? [] : ["a body where none is declared"]
  try {
    return Object.entries(headersOf(decode(JSON.parse(text)))).flatMap(([name, value]) =>
      headers.get(name) === value ? [] : [`${name}: ${headers.get(name)}, not ${value}`]
    )
  } catch (error) {
    return [`not as declared: ${error instanceof Error ? error.message : String(error)}`]
  }
}

/** A field that requires the URL of a calendar. Most generated URLs do not serve one. */
const calendarUrlField = "excluded_calendar"

/** Checks the responses to requests without flaws, and to requests that must be rejected. */
const judgeResult = (exchange: Exchange): ReadonlyArray<string> => {
  const { answer, draft } = exchange
  const { credential, flaws, hopeless, target } = draft
  const { status } = answer
  const isLetIn = status < 400
  if (flaws.length > 0) {
    return hopeless.size > 0 && isLetIn && targetOf(exchange) === target
      ? ["accepted despite its flaws"]
      : []
  }
  const code = errorOf(answer)?.error
  if (code === "origin_refused") return []
  // The required scopes depend on the document's sections.
  if (code === "insufficient_scope" && target.access.kind === "any_scope") return []
  if (status === 422) {
    const wrong = issuesOf(answer).filter(
      (field) =>
        field !== calendarUrlField && rulesBetweenFields[target.name]?.includes(field) !== true
    )
    return wrong.length > 0 ? [`valid, but refused for ${wrong.join(", ")}`] : []
  }
  if ([400, 403, 405, 413, 415, 431].includes(status)) return [`valid, but refused with ${code}`]
  if (credential?.isLasting === true && status === 401 && !inBody.has(String(code))) {
    return [`a valid credential, but ${code}`]
  }
  return []
}

/**
 * Returns the fields that a response reports as invalid, except for fields whose validity depends
 * on the server's network.
 */
const issuesOf = (answer: WireResponse): ReadonlyArray<string> => {
  const issues = errorOf(answer)?.["issues"]
  if (!Array.isArray(issues)) return []
  return (issues as ReadonlyArray<{ readonly path?: ReadonlyArray<unknown>; message?: string }>)
    .filter(({ message }) => message?.includes("EGRESS_ALLOW") !== true)
    .map(({ path }) => String(path?.[0]))
}
