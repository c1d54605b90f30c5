import { onAnswer } from "./answers.ts"

let latest: number | undefined

/** Each answer says when it was made, to the second. */
onAnswer(({ headers }) => {
  const date = Date.parse(headers.get("date") ?? "")
  if (!Number.isNaN(date)) latest = date
})

/**
 * A moment that has passed, by the clock of the service, as that of this machine may be wrong.
 * Undefined if no answer has said it.
 */
export const passedMoment = (): string | undefined =>
  latest === undefined ? undefined : new Date(latest).toISOString()
