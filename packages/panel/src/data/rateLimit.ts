import { createStore } from "../ui/store.ts"
import { now } from "../ui/values/clock.ts"
import { onResponse } from "./responses.ts"

/** The time until which the rate limit rejects the user's requests. */
export const rateLimitedUntil = createStore<number | undefined>(undefined)

let timer: number | undefined

/**
 * The longest delay after which the SDK retries. If the service requests a longer delay, the SDK
 * throws the error instead.
 */
const maxRetryDelaySeconds = 30

onResponse(({ headers, status }) => {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN)
  if (status !== 429 || !(seconds > 0 && seconds <= maxRetryDelaySeconds)) return
  window.clearTimeout(timer)
  timer = window.setTimeout(() => rateLimitedUntil.set(undefined), seconds * 1_000)
  rateLimitedUntil.set(now() + seconds * 1_000)
})
