import { defaultLimit } from "@scheduling/domain/shared/requests/Page"
import { Predicate } from "effect"
import { domainToASCII } from "node:url"
import {
  bodyOf,
  type Exchange,
  type Json,
  jsonObject,
  jsonObjects,
  targetOf
} from "../exchange/Exchange.ts"
import { isBatch } from "./Batch.ts"

/** Finds statements in a successful answer that cannot be true, although its shape is right. */
export const judgeFacts = (exchange: Exchange): ReadonlyArray<string> => {
  const { answer, request } = exchange
  if (answer.status >= 300 || request.method === "HEAD" || targetOf(exchange) === undefined) {
    return []
  }
  // Its items are judged one by one.
  if (isBatch(exchange)) return []
  const body = bodyOf(answer)
  return [
    ...judgePlace(exchange, body),
    ...("next_cursor" in body ? judgePage(exchange, body) : []),
    ...judgeEcho(exchange, body)
  ]
}

/** The answer must be about what the path names, in any letter case. */
const judgePlace = (exchange: Exchange, body: Json): ReadonlyArray<string> => {
  const names = targetOf(exchange)?.segments ?? []
  const segments = exchange.request.target.split("?")[0]?.split("/").slice(1) ?? []
  const asked = new Map(names.map((name, at) => [name, segments[at]?.toLowerCase()]))
  const last = names.at(-1) ?? ""
  const said = body[last === ":key" ? "key" : "id"]
  const isAnother = last.startsWith(":") && String(said).toLowerCase() !== asked.get(last)
  const own = isAnother ? [`another ${last}`] : []
  const records = [body, ...jsonObjects(body["data"])]
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

/** Filters of a page, by fields that its records have too. */
const filters = ["status", "kind", "task_id"]

const judgePage = ({ request }: Exchange, body: Json): ReadonlyArray<string> => {
  const query = new URLSearchParams(request.target.split("?")[1])
  const records = jsonObjects(body["data"])
  const ids = records.map(({ id }) => String(id))
  const limit = Number(query.get("limit") ?? defaultLimit)
  return [
    ...(records.length > limit ? [`${records.length} records, asked for ${limit}`] : []),
    ...(ids.some((id, at) => at > 0 && id >= (ids[at - 1] ?? "")) ? ["not the newest first"] : []),
    ...(body["next_cursor"] !== null && records.length < limit ? ["more to come, not full"] : []),
    ...filters.flatMap((name) => {
      const asked = query.get(name)?.toLowerCase()
      const isOther = (record: Json) => name in record && record[name] !== asked
      return asked !== undefined && records.some(isOther) ? [`not filtered by ${name}`] : []
    })
  ]
}

/** Fields that are stored in another spelling than they were sent, or made anew. */
const respelled = new Set(["cursor", "email", "name", "run_at", "refresh_token", "version"])

/** The offsets of the requests are all 0. */
const inUtc = (time: string) => time.replace(/[+-]00:00$/, "Z")

/** An IPv6 address is no domain, and stays as it is. */
const inAscii = (host: string) => domainToASCII(host) || host

const spellings: Readonly<Record<string, (asked: string) => string>> = {
  starts_at: inUtc,
  ends_at: inUtc,
  host: inAscii,
  server_name: inAscii
}

const keptSpelling = (name: string, asked: unknown): unknown =>
  Predicate.isString(asked) ? (spellings[name]?.(asked) ?? asked) : asked

/** A record that was created or changed must be as requested. */
const judgeEcho = ({ draft, request }: Exchange, body: Json): ReadonlyArray<string> =>
  draft.flaws.length > 0 || request.method === "GET"
    ? []
    : Object.entries(jsonObject(draft.payload)).flatMap(([name, asked]) =>
        respelled.has(name) || !(name in body) || holds(body[name], keptSpelling(name, asked))
          ? []
          : [`${name} is not as asked for`]
      )

/** Includes the defaults of fields that were left out. */
const holds = (said: unknown, asked: unknown): boolean =>
  Array.isArray(asked)
    ? Array.isArray(said) &&
      said.length === asked.length &&
      asked.every((one, at) => holds(said[at], one))
    : Predicate.isObject(asked)
      ? Object.entries(asked).every(([name, one]) => holds(jsonObject(said)[name], one))
      : said === asked
