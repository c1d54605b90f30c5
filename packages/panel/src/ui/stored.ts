import { createStore } from "./store.ts"

/**
 * Creates a store that is saved in the browser. If the saved value cannot be read, the store starts
 * with `initial`.
 */
export const createStored = <Value>(key: string, initial: Value) => {
  const store = createStore(read(key, initial))
  // Another tab has saved a value.
  window.addEventListener("storage", (event) => {
    if (event.key === key) store.set(read(key, initial))
  })
  return {
    ...store,
    set: (next: Value): void => {
      store.set(next)
      try {
        localStorage.setItem(key, JSON.stringify(next))
      } catch {
        // The value is kept only until the page is closed.
      }
    }
  }
}

const read = <Value>(key: string, initial: Value): Value => {
  try {
    const text = localStorage.getItem(key)
    return text === null ? initial : (JSON.parse(text) as Value)
  } catch {
    return initial
  }
}
