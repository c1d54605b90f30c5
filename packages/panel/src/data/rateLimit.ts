import { createStore } from "../ui/store.ts"
import { now } from "../ui/values/clock.ts"
import { onResponse } from "./responses.ts"

/** The time until which the service accepts no more requests of this reader. */
export const waitsUntil = createStore<number | undefined>(undefined)

let timer: number | undefined

/** The longest wait after which the SDK tries again. A longer one is reported as a failure. */
const longestSeconds = 30

onResponse(({ headers, status }) => {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN)
  if (status !== 429 || !(seconds > 0 && seconds <= longestSeconds)) return
  window.clearTimeout(timer)
  timer = window.setTimeout(() => waitsUntil.set(undefined), seconds * 1_000)
  waitsUntil.set(now() + seconds * 1_000)
})
