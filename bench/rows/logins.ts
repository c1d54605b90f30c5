import { makeDatabase } from "../support/database.ts"
import { generateLoad } from "../support/load.ts"
import { cronLists, populate } from "../support/population.ts"
import { startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, percentile, ratios, formatSpread } from "../support/statistics.ts"

const perSecond = 50
const connections = 8
const seconds = 6
const rounds = 5

/**
 * Logs in from a different address each time, so that throttling does not affect the measurement.
 */
const tryLogins = (serviceUrl: string) => {
  const took: Array<number> = []
  const statuses = new Map<number, number>()
  const pending = new Set<Promise<void>>()
  const attempt = async () => {
    const startedAt = performance.now()
    const sent = took.length + pending.size
    const response = await fetch(`${serviceUrl}/v1/auth/login`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-forwarded-for": `10.${sent >> 16}.${(sent >> 8) & 255}.${sent & 255}`
      },
      body: JSON.stringify({ email: `nobody-${sent}@example.com`, password: "a wrong password" })
    })
    await response.arrayBuffer()
    took.push(performance.now() - startedAt)
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
  }
  const timer = setInterval(() => {
    const one = attempt().finally(() => pending.delete(one))
    pending.add(one)
  }, 1_000 / perSecond)
  return async () => {
    clearInterval(timer)
    await Promise.all(pending)
    return { took, statuses }
  }
}

export const measureLogins = async (): Promise<Report> => {
  await using database = await makeDatabase()
  await using service = await startService({
    DATABASE_URL: database.url,
    TRUST_PROXY: "127.0.0.0/8"
  })
  const requests = cronLists(await populate(service.url, 64))
  const measure = () => generateLoad({ url: service.url, requests, connections, seconds })
  await measure()
  const alone: Array<number> = []
  const beside: Array<number> = []
  const took: Array<number> = []
  const answered = new Map<number, number>()
  for (let round = 0; round < rounds; round++) {
    alone.push((await measure()).p99)
    const stop = tryLogins(service.url)
    beside.push((await measure()).p99)
    const tried = await stop()
    took.push(...tried.took)
    for (const [status, count] of tried.statuses) {
      answered.set(status, (answered.get(status) ?? 0) + count)
    }
  }
  const statuses = [...answered].map(([status, count]) => `${count} × ${status}`).join(", ")
  return {
    title: "Latency during logins",
    work: `p99 of \`GET W/cron\` over ${connections} connections, alone and while ${perSecond} logins per second arrive, each of which computes an Argon2id hash (19 MiB, two passes); ${rounds} rounds of ${seconds} s each. Responses to the logins: ${statuses}.`,
    columns: ["", "p99 ms"],
    rows: [
      ["the list, alone", formatSpread(alone)],
      ["the list, during the logins", formatSpread(beside)],
      ["the logins themselves", formatNumber(percentile(took, 0.99))]
    ],
    goal: "≤ 2 ×",
    result: `${formatNumber(median(ratios(beside, alone)))} ×`
  }
}
