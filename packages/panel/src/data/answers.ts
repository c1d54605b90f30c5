const listeners = new Set<(answer: Response) => void>()

/** Calls the listener with each answer of the API, whoever asked for it. */
export const onAnswer = (listener: (answer: Response) => void): void => {
  listeners.add(listener)
}

/** The `fetch` of the panel. */
export const noticed = async (url: string, init: RequestInit): Promise<Response> => {
  const answer = await fetch(url, init)
  for (const listener of listeners) listener(answer)
  return answer
}
