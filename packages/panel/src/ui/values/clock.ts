import { useSyncExternalStore } from "react"

/** The only function of the panel that reads the clock of the machine. */
// oxlint-disable-next-line house/no-machine-clock -- see above
export const now = (): number => Date.now()

const listeners = new Set<() => void>()
let current = now()
let timer: number | undefined

const tick = () => {
  current = now()
  for (const listener of listeners) listener()
}

/** Restarts the timer that all listeners share. In a hidden tab, the timer stays stopped. */
const run = () => {
  window.clearInterval(timer)
  timer = undefined
  if (listeners.size === 0 || document.hidden) return
  tick()
  timer = window.setInterval(tick, 1_000)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  if (listeners.size === 1) {
    document.addEventListener("visibilitychange", run)
    run()
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    document.removeEventListener("visibilitychange", run)
    run()
  }
}

/** Returns the current time, rounded down to a multiple of `coarseMs`. */
export const useNow = (coarseMs = 1_000): number =>
  useSyncExternalStore(subscribe, () => Math.floor(current / coarseMs) * coarseMs)
