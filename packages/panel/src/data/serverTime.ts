let latest: number | undefined

/** Each answer says when it was made, to the second. */
export const timed = async (url: string, init: RequestInit): Promise<Response> => {
  const answer = await fetch(url, init)
  const date = Date.parse(answer.headers.get("date") ?? "")
  if (!Number.isNaN(date)) latest = date
  return answer
}

/**
 * A moment that has passed, by the clock of the service, as that of this machine may be wrong.
 * Undefined if no answer has said it.
 */
export const passedMoment = (): string | undefined =>
  latest === undefined ? undefined : new Date(latest).toISOString()
