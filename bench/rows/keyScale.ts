import { alternate } from "../support/alternate.ts"
import { makeDatabase, query } from "../support/database.ts"
import { generateLoad } from "../support/load.ts"
import { cronLists, populate } from "../support/population.ts"
import { startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, ratios, formatSpread } from "../support/statistics.ts"

const sizes = [1_000, 100_000, 1_000_000]
const workspaceCount = 64
const rounds = 5

/** Inserts other workspaces' keys until the table has this size. */
const addKeys = async (database: string, count: number) => {
  await query(
    database,
    `INSERT INTO workspaces (id, name, created_at)
     SELECT gen_random_uuid(), 'Other ' || n, now()
     FROM generate_series(1, $1::int / 100) AS n`,
    [count]
  )
  await query(
    database,
    `INSERT INTO api_keys (id, workspace_id, name, key_hash, key_prefix, scopes, created_at)
     SELECT
       gen_random_uuid(), w.id, 'Other', encode(sha256(gen_random_uuid()::text::bytea), 'base64'),
       'pak_othersss', '{tasks:read}', now()
     FROM workspaces AS w, generate_series(1, 100)
     WHERE w.name LIKE 'Other %'`
  )
  await query(database, "VACUUM ANALYZE api_keys")
}

/**
 * Uses one database per table size. The databases exist at the same time, so that the measurements
 * can alternate between the sizes.
 */
export const measureKeyScale = async (): Promise<Report> => {
  await using running = new AsyncDisposableStack()
  const contenders: Record<string, () => Promise<number>> = {}
  for (const size of sizes) {
    const { url: database } = running.use(await makeDatabase())
    const service = running.use(await startService({ DATABASE_URL: database }))
    const requests = cronLists(await populate(service.url, workspaceCount))
    await addKeys(database, size)
    contenders[size] = async () => {
      const measured = await generateLoad({
        url: service.url,
        requests,
        connections: 64,
        seconds: 4
      })
      return 1_000_000 / measured.perSecond
    }
  }
  await alternate(1, contenders)
  const measured = await alternate(rounds, contenders)
  const smallest = measured[String(sizes[0])] ?? []
  const rows = sizes.map((size) => {
    const micros = measured[String(size)] ?? []
    return [
      `${formatNumber(size)} keys`,
      formatSpread(micros),
      `${formatNumber(median(ratios(micros, smallest)))} ×`
    ]
  })
  return {
    title: "Scale of keys",
    work: `\`GET W/cron\` with API keys of ${workspaceCount} workspaces, 64 connections, in databases with this many keys; CPU microseconds of the whole machine per request, ${rounds} rounds of 4 s in turn.`,
    columns: ["", "µs per request", "compared with the smallest"],
    rows,
    goal: "≤ 1.1 ×",
    result: `${rows.at(-1)?.[2]}`
  }
}
