import { onResponse } from "./responses.ts"

let latest: number | undefined

onResponse(({ headers }) => {
  const date = Date.parse(headers.get("date") ?? "")
  if (!Number.isNaN(date)) latest = date
})

/**
 * Returns the `date` header of the latest response. The service's clock is used because the clock
 * of this machine may be wrong. Undefined before the first response.
 */
export const latestServerTime = (): string | undefined =>
  latest === undefined ? undefined : new Date(latest).toISOString()
