import { bodyOf, type Exchange, jsonObject, jsonObjects, targetOf } from "../exchange/Exchange.ts"

/**
 * What became of each item of a batch, as if it had been sent alone. So an item is judged by the
 * rules for a create.
 */
export const itemsOf = (exchange: Exchange): ReadonlyArray<Exchange> => {
  const { answer, draft, request } = exchange
  const batch = targetOf(exchange)
  if (batch === undefined || !isBatch(exchange)) return []
  const create = {
    ...batch,
    name: batch.name.replace(/Many$/, ""),
    segments: batch.segments.slice(0, -1)
  }
  const asked = jsonObjects(jsonObject(draft.payload)["items"])
  return jsonObjects(bodyOf(answer)["items"]).map(({ data, error, status }, at) => ({
    request,
    draft: { ...draft, target: create, payload: asked[at] },
    answer: { ...answer, status: Number(status), text: JSON.stringify(data ?? error) },
    here: new Map([["POST", create]])
  }))
}

/** Each item has an outcome. */
export const judgeCount = (exchange: Exchange): ReadonlyArray<string> => {
  const { answer, draft } = exchange
  if (draft.flaws.length > 0 || !isBatch(exchange)) return []
  const asked = jsonObjects(jsonObject(draft.payload)["items"]).length
  const answered = jsonObjects(bodyOf(answer)["items"]).length
  return asked === answered ? [] : [`${answered} outcomes of ${asked} items`]
}

/** Says of each item what became of it. */
export const isBatch = (exchange: Exchange): boolean =>
  exchange.answer.status === 200 && targetOf(exchange)?.name.endsWith(".createMany") === true
