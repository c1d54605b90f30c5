const listeners = new Set<(response: Response) => void>()

/** Calls the listener with each response of the service. */
export const onResponse = (listener: (response: Response) => void): void => {
  listeners.add(listener)
}

/** A `fetch` that passes each response to the listeners of `onResponse`. */
export const observedFetch = async (url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, init)
  for (const listener of listeners) listener(response)
  return response
}
