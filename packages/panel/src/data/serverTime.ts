import { onResponse } from "./responses.ts"

let latest: number | undefined

onResponse(({ headers }) => {
  const date = Date.parse(headers.get("date") ?? "")
  if (!Number.isNaN(date)) latest = date
})

/**
 * Returns the latest response's `date` header. Undefined before the first response. The service's
 * clock is used because this machine's clock can be wrong.
 */
export const latestServerTime = (): string | undefined =>
  latest === undefined ? undefined : new Date(latest).toISOString()
