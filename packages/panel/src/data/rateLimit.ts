import { useSyncExternalStore } from "react"
import { now } from "../ui/values/clock.ts"
import { onAnswer } from "./answers.ts"

/** Until when the service takes no more requests of this reader. */
let until: number | undefined
let timer: number | undefined
const listeners = new Set<() => void>()

const set = (next: number | undefined) => {
  until = next
  for (const listener of listeners) listener()
}

/** The SDK waits this long and asks again. What takes longer is reported as a failure. */
const longestSeconds = 30

onAnswer(({ headers, status }) => {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN)
  if (status !== 429 || !(seconds > 0 && seconds <= longestSeconds)) return
  window.clearTimeout(timer)
  timer = window.setTimeout(() => set(undefined), seconds * 1_000)
  set(now() + seconds * 1_000)
})

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Until when requests wait, because there were too many. Undefined if they do not. */
export const useWaitsUntil = (): number | undefined => useSyncExternalStore(subscribe, () => until)
