import { defaultLimit } from "@scheduling/domain/shared/Page"
import { Predicate } from "effect"
import { bodyOf, type Exchange, type Json, jsonObject, jsonObjects, targetOf } from "./Exchange.ts"

/** What a success says that cannot be so, though its shape is right. */
export const judgeFacts = (exchange: Exchange): ReadonlyArray<string> => {
  const { answer, request } = exchange
  if (answer.status >= 300 || request.method === "HEAD" || targetOf(exchange) === undefined) {
    return []
  }
  const body = bodyOf(answer)
  return [
    ...judgePlace(exchange, body),
    ...("next_cursor" in body ? judgePage(exchange, body) : []),
    ...judgeEcho(exchange, body)
  ]
}

/** What a path names is what is answered, in whatever case of letters it was asked for. */
const judgePlace = (exchange: Exchange, body: Json): ReadonlyArray<string> => {
  const names = targetOf(exchange)?.segments ?? []
  const segments = exchange.request.target.split("?")[0]?.split("/").slice(1) ?? []
  const asked = new Map(names.map((name, at) => [name, segments[at]?.toLowerCase()]))
  const last = names.at(-1) ?? ""
  const own = last.startsWith(":") && body["id"] !== asked.get(last) ? [`another ${last}`] : []
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

/** What a page may be asked to hold, by fields that its records have too. */
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

/** Kept in another spelling than they came in, or made anew. */
const respelled = new Set(["email", "name", "run_at", "refresh_token"])

/** A record that was made or changed is as it was asked for. */
const judgeEcho = ({ draft, request }: Exchange, body: Json): ReadonlyArray<string> =>
  draft.flaws.length > 0 || request.method === "GET"
    ? []
    : Object.entries(jsonObject(draft.payload)).flatMap(([name, asked]) =>
        respelled.has(name) || !(name in body) || holds(body[name], asked)
          ? []
          : [`${name} is not as asked for`]
      )

/** With defaults for what was left out. */
const holds = (said: unknown, asked: unknown): boolean =>
  Array.isArray(asked)
    ? Array.isArray(said) &&
      said.length === asked.length &&
      asked.every((one, at) => holds(said[at], one))
    : Predicate.isObject(asked)
      ? Object.entries(asked).every(([name, one]) => holds(jsonObject(said)[name], one))
      : said === asked
