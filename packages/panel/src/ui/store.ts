import { useSyncExternalStore } from "react"

/** Creates a value outside the component tree, with a hook for reading it. */
export const createStore = <Value>(initial: Value) => {
  let value = initial
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    get: (): Value => value,
    set: (next: Value): void => {
      value = next
      for (const listener of listeners) listener()
    },
    use: (): Value => useSyncExternalStore(subscribe, () => value)
  }
}
