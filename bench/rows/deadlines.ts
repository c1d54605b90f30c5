import { setTimeout } from "node:timers/promises"
import { makeDatabase, query } from "../support/database.ts"
import { watchDatabase } from "../support/databaseUse.ts"
import { insertHeartbeats } from "../support/heartbeats.ts"
import { resourceUseOf } from "../support/idle.ts"
import { newWorkspaces } from "../support/population.ts"
import { startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber } from "../support/statistics.ts"

const workspaceCount = 50
const heartbeats = { count: 100_000, firstInMs: 30_000, spreadMs: 60_000 }
const patienceMs = 60_000

interface Found {
  readonly incidents: number
  readonly monitors: number
  readonly p50: number
  readonly p99: number
  readonly last: number
}

/**
 * Adds a column with the time of insertion to incidents. An incident opens at the deadline, so the
 * difference shows how late it was inserted.
 */
const addWrittenAtColumn =
  "ALTER TABLE incidents ADD COLUMN written_at timestamptz NOT NULL DEFAULT clock_timestamp()"

const find = async (database: string): Promise<Found> => {
  const [found] = await query<Found>(
    database,
    `SELECT
       count(*)::int AS incidents,
       count(DISTINCT monitor_id)::int AS monitors,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY late) AS p50,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY late) AS p99,
       max(late) AS last
     FROM (
       SELECT
         subject_id,
         (extract(epoch FROM written_at - opened_at) * 1000)::float8 AS late
       FROM incidents
     ) AS written`
  )
  if (found === undefined) throw new Error("the query returned no row")
  return found
}

export const measureDeadlines = async (): Promise<Report> => {
  await using database = await makeDatabase()
  await using service = await startService({ DATABASE_URL: database.url, LOG_LEVEL: "warn" })
  const workspaces = await newWorkspaces(service.url, workspaceCount)
  await query(database.url, addWrittenAtColumn)
  await using watch = await watchDatabase(database.url)
  const used = resourceUseOf(service.pid, watch)
  await insertHeartbeats(
    database.url,
    workspaces.map(({ id }) => id),
    heartbeats
  )
  await used()
  const endsAt = performance.now() + heartbeats.firstInMs + heartbeats.spreadMs + patienceMs
  let found = await find(database.url)
  while (found.monitors < heartbeats.count && performance.now() < endsAt) {
    await setTimeout(1_000)
    found = await find(database.url)
  }
  const { postgresMs, serviceMs } = await used()
  if (found.monitors !== heartbeats.count || found.incidents !== heartbeats.count) {
    throw new Error(
      `${found.incidents} incidents of ${found.monitors} monitors instead of ${heartbeats.count}`
    )
  }
  const micros = (ms: number) => formatNumber((ms * 1_000) / heartbeats.count)
  return {
    title: "Deadlines",
    work: `${formatNumber(heartbeats.count)} heartbeats of ${workspaceCount} workspaces whose deadlines pass within ${heartbeats.spreadMs / 1_000} s. Milliseconds from the deadline until the incident is written. 250 of them are a deliberate delay, for pings that are still being written. Each heartbeat has one incident.`,
    columns: ["", "p50 ms", "p99 ms", "last ms", "CPU µs each, service + PostgreSQL"],
    rows: [
      [
        "this service",
        formatNumber(found.p50),
        formatNumber(found.p99),
        formatNumber(found.last),
        `${micros(serviceMs)} + ${micros(postgresMs)}`
      ]
    ],
    goal: "the last within 1 s, no duplicates",
    result: `the last after ${formatNumber(found.last)} ms, no duplicates`
  }
}
