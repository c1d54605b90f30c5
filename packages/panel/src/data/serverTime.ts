import { onResponse } from "./responses.ts"

let latest: number | undefined

onResponse(({ headers }) => {
  const date = Date.parse(headers.get("date") ?? "")
  if (!Number.isNaN(date)) latest = date
})

/**
 * The `date` of the latest response: a past moment on the clock of the service, because the clock of
 * this machine may be wrong. Undefined before the first response.
 */
export const latestServerTime = (): string | undefined =>
  latest === undefined ? undefined : new Date(latest).toISOString()
