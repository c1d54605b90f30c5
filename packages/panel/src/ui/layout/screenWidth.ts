import { useSyncExternalStore } from "react"

/** Returns a hook that reports whether the window matches a media query. */
const mediaHook = (query: string) => {
  const list = window.matchMedia(query)
  const subscribe = (listener: () => void) => {
    list.addEventListener("change", listener)
    return () => list.removeEventListener("change", listener)
  }
  return (): boolean => useSyncExternalStore(subscribe, () => list.matches)
}

/**
 * Returns whether there is room for two columns (Tailwind's `lg`), for content that must be moved
 * rather than hidden.
 */
export const useIsWide = mediaHook("(min-width: 64rem)")

/** Returns whether the window is as narrow as a phone's (Tailwind's `max-sm`). */
export const useIsPhone = mediaHook("(width < 40rem)")
