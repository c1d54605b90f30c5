import { makeDatabase, query } from "../support/database.ts"
import { newWorkspaces } from "../support/population.ts"
import { startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, percentile } from "../support/statistics.ts"

const inWorkspace = 100_000
const inAll = 1_000_000
const rounds = 60

/** Inserts searchable records. A tenth of them are in the workspace. */
const insertEntries = (database: string, workspaceId: string) =>
  query(
    database,
    `WITH others AS (
      INSERT INTO workspaces (id, name, created_at)
      SELECT gen_random_uuid(), 'Other ' || n, now()
      FROM generate_series(0, 899) AS n
      RETURNING id
    ), numbered AS (
      SELECT array_agg(id) AS ids FROM others
    )
    INSERT INTO search_entries (workspace_id, id, kind, name, key, target, text)
    SELECT workspace, gen_random_uuid(), 'cron', name, key, target, lower(concat_ws(chr(10), '', name, key, target, ''))
    FROM generate_series(1, $2::int) AS n
    CROSS JOIN numbered
    CROSS JOIN LATERAL (
      SELECT
        CASE WHEN n % 10 = 0 THEN $1::uuid ELSE ids[1 + n % 900] END AS workspace,
        'Report ' || n || ' of the shop' AS name,
        'report:' || n AS key,
        'https://api.example.com/jobs/' || md5(n::text) || '?shop=' || n AS target
    ) AS made`,
    [workspaceId, inAll]
  )

const searches: ReadonlyArray<readonly [what: string, text: (n: number) => string]> = [
  ["a number in few names", (n) => String(7_000 + n * 10)],
  ["words in all names", () => "report shop"],
  ["a text in one of 90 keys", () => "report:77"],
  ["a part of a few URLs", (n) => `jobs/${(n * 2_654_435_761).toString(16).slice(0, 3)}`],
  ["a missing word", () => "kwyjibo"]
]

export const measureSearch = async (): Promise<Report> => {
  await using running = new AsyncDisposableStack()
  const { url } = running.use(await makeDatabase())
  const service = running.use(await startService({ DATABASE_URL: url, LOG_LEVEL: "warn" }))
  const [workspace] = await newWorkspaces(service.url, 1)
  if (workspace === undefined) throw new Error("there is no workspace")
  await insertEntries(url, workspace.id)
  await query(url, "VACUUM ANALYZE search_entries")
  const measure = async (text: string) => {
    const startedMs = performance.now()
    const at = `${service.url}/v1/workspaces/${workspace.id}/search?q=${encodeURIComponent(text)}`
    const headers = { authorization: `Bearer ${workspace.accessToken}` }
    const response = await fetch(at, { headers })
    if (!response.ok) throw new Error(await response.text())
    await response.json()
    return performance.now() - startedMs
  }
  const times = searches.map((): Array<number> => [])
  for (let n = 0; n < rounds; n++) {
    for (const [index, [, text]] of searches.entries()) {
      const ms = await measure(text(n))
      if (n >= 10) times[index]?.push(ms)
    }
  }
  return {
    title: "Search",
    work: `Searches over HTTP, one after another, in a workspace with ${formatNumber(inWorkspace)} records beside ${formatNumber(inAll - inWorkspace)} of others.`,
    columns: ["", "median ms", "p95 ms"],
    rows: searches.map(([what], index) => [
      what,
      formatNumber(median(times[index] ?? [])),
      formatNumber(percentile(times[index] ?? [], 0.95))
    ]),
    goal: "p95 ≤ 50 ms",
    result: `p95 ${formatNumber(percentile(times.flat(), 0.95))} ms`
  }
}
