import { useSyncExternalStore } from "react"

/** True if the window has room for two columns: Tailwind's `lg`. */
const wide = window.matchMedia("(min-width: 64rem)")

const subscribe = (listener: () => void) => {
  wide.addEventListener("change", listener)
  return () => wide.removeEventListener("change", listener)
}

/**
 * Returns whether there is room for two columns, for content that must be moved rather than hidden.
 */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => wide.matches)
