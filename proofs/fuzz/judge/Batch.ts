import {
  bodyOf,
  type Exchange,
  objectOrEmpty,
  objectsOrEmpty,
  targetOf
} from "../exchange/Exchange.ts"

/**
 * Returns the items of a batch as separate exchanges, so that the rules for creating one record
 * apply to each.
 */
export const batchItemsOf = (exchange: Exchange): ReadonlyArray<Exchange> => {
  const { answer, draft, request } = exchange
  const batch = targetOf(exchange)
  if (batch === undefined || !isBatch(exchange)) return []
  const create = {
    ...batch,
    name: batch.name.replace(/Many$/, ""),
    segments: batch.segments.slice(0, -1)
  }
  const asked = objectsOrEmpty(objectOrEmpty(draft.payload)["items"])
  return objectsOrEmpty(bodyOf(answer)["items"]).map(({ data, error, status }, at) => ({
    request,
    draft: { ...draft, target: create, payload: asked[at] },
    answer: { ...answer, status: Number(status), text: JSON.stringify(data ?? error) },
    here: new Map([["POST", create]])
  }))
}

export const judgeItemCount = (exchange: Exchange): ReadonlyArray<string> => {
  const { answer, draft } = exchange
  if (draft.flaws.length > 0 || !isBatch(exchange)) return []
  const asked = objectsOrEmpty(objectOrEmpty(draft.payload)["items"]).length
  const answered = objectsOrEmpty(bodyOf(answer)["items"]).length
  return asked === answered ? [] : [`${answered} results for ${asked} items`]
}

/** Returns whether the response has a result for each item. */
export const isBatch = (exchange: Exchange): boolean =>
  exchange.answer.status === 200 && targetOf(exchange)?.name.endsWith(".createMany") === true
