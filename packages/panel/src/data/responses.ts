const listeners = new Set<(response: Response) => void>()

export const onResponse = (listener: (response: Response) => void): void => {
  listeners.add(listener)
}

export const observedFetch = async (url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, init)
  for (const listener of listeners) listener(response)
  return response
}
