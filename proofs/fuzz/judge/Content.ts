import { callbacks } from "@scheduling/domain/calls/Callbacks"
import { callOptions, retryDefaults } from "@scheduling/domain/calls/CallOptions"
import { maskedDefinitionHeaders } from "@scheduling/domain/calls/credentialHeaders"
import { firingOptions } from "@scheduling/domain/cron/FiringOptions"
import { defaultPageLimit } from "@scheduling/domain/shared/requests/Page"
import { Predicate, Schema } from "effect"
import { domainToASCII } from "node:url"
import {
  bodyOf,
  type Exchange,
  type Json,
  objectOrEmpty,
  objectsOrEmpty,
  targetOf
} from "../exchange/Exchange.ts"
import { isBatch } from "./Batch.ts"

/** Finds values in a successful response that cannot be correct, although its shape is valid. */
export const judgeContent = (exchange: Exchange): ReadonlyArray<string> => {
  const { answer, request } = exchange
  if (answer.status >= 300 || request.method === "HEAD" || targetOf(exchange) === undefined) {
    return []
  }
  // The items of a batch are checked individually.
  if (isBatch(exchange)) return []
  const body = bodyOf(answer)
  return [
    ...judgeIds(exchange, body),
    ...("next_cursor" in body ? judgePage(exchange, body) : []),
    ...judgeEcho(exchange, body)
  ]
}

/** Checks that the response contains the ids from the path, compared case-insensitively. */
const judgeIds = (exchange: Exchange, body: Json): ReadonlyArray<string> => {
  const names = targetOf(exchange)?.segments ?? []
  const segments = exchange.request.target.split("?")[0]?.split("/").slice(1) ?? []
  const asked = new Map(names.map((name, at) => [name, segments[at]?.toLowerCase()]))
  const last = names.at(-1) ?? ""
  const said = body[last === ":key" || last === ":slug" ? last.slice(1) : "id"]
  const isAnother = last.startsWith(":") && String(said).toLowerCase() !== asked.get(last)
  const own = isAnother ? [`a different ${last}`] : []
  const records = [body, ...objectsOrEmpty(body["data"])]
  const isForeign = records.some(
    ({ workspace_id }) =>
      workspace_id !== undefined &&
      asked.has(":workspace_id") &&
      workspace_id !== asked.get(":workspace_id")
  )
  return [
    ...(exchange.answer.text === "" ? [] : own),
    ...(isForeign ? ["of another workspace"] : [])
  ]
}

/** Query parameters that filter a list by the field with the same name. */
const filters = ["status", "kind", "task_id"]

const judgePage = ({ request }: Exchange, body: Json): ReadonlyArray<string> => {
  const query = new URLSearchParams(request.target.split("?")[1])
  const records = objectsOrEmpty(body["data"])
  const ids = records.map(({ id }) => String(id))
  const limit = Number(query.get("limit") ?? defaultPageLimit)
  return [
    ...(records.length > limit ? [`${records.length} records, limit ${limit}`] : []),
    ...(!query.has("sort") && ids.some((id, at) => at > 0 && id >= (ids[at - 1] ?? ""))
      ? ["not newest first"]
      : []),
    ...(body["next_cursor"] !== null && records.length < limit
      ? ["a next page, although this page is not full"]
      : []),
    ...filters.flatMap((name) => {
      const asked = query.getAll(name).map((one) => one.toLowerCase())
      const isOther = (record: Json) => name in record && !asked.includes(String(record[name]))
      return asked.length > 0 && records.some(isOther) ? [`not filtered by ${name}`] : []
    })
  ]
}

/** Fields that the service normalizes or generates. */
const respelled = new Set(["cursor", "email", "name", "run_at", "refresh_token", "version"])

/** Converts a time with a zero offset to UTC notation. All requests use a zero offset. */
const inUtc = (time: string) => time.replace(/[+-]00:00$/, "Z")

/** Converts a domain to ASCII. Leaves IPv6 addresses unchanged. */
const inAscii = (host: string) => domainToASCII(host) || host

const spellings: Readonly<Record<string, (asked: string) => string>> = {
  anchor: inUtc,
  starts_at: inUtc,
  ends_at: inUtc,
  host: inAscii,
  server_name: inAscii
}

/** The values that a response contains for options that were set to null. */
const unset: Readonly<Record<string, unknown>> = {
  ...retryDefaults,
  ...callOptions.unset,
  ...firingOptions.unset,
  ...callbacks.unset
}

/** True if the value is a map of request headers. Responses mask the credentials in them. */
const areHeaders = Schema.is(Schema.Record(Schema.String, Schema.String))

const keptSpelling = (name: string, asked: unknown): unknown => {
  if (asked === null) return unset[name] ?? null
  if (name === "headers" && areHeaders(asked)) return maskedDefinitionHeaders(asked)
  return Predicate.isString(asked) ? (spellings[name]?.(asked) ?? asked) : asked
}

/** Checks that a created or updated record has the requested values. */
const judgeEcho = ({ draft, request }: Exchange, body: Json): ReadonlyArray<string> =>
  draft.flaws.length > 0 || request.method === "GET"
    ? []
    : Object.entries(objectOrEmpty(draft.payload)).flatMap(([name, asked]) =>
        respelled.has(name) ||
        !(name in body) ||
        matchesRequest(body[name], keptSpelling(name, asked))
          ? []
          : [`${name} is not as requested`]
      )

/** Compares a response value with the requested one. Omitted fields may have their defaults. */
const matchesRequest = (said: unknown, asked: unknown): boolean =>
  Array.isArray(asked)
    ? Array.isArray(said) &&
      said.length === asked.length &&
      asked.every((one, at) => matchesRequest(said[at], one))
    : Predicate.isObject(asked)
      ? Object.entries(asked).every(
          ([name, one]) =>
            // Within an option, null represents the default.
            one === null || matchesRequest(objectOrEmpty(said)[name], keptSpelling(name, one))
        )
      : said === asked
