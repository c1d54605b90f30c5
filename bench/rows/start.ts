import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { makeDatabase } from "../support/database.ts"
import { memoryOf, startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, formatSpread } from "../support/statistics.ts"

const rounds = 5

interface Start {
  readonly seconds: number
  readonly megabytes: number
}

const startOnce = async (env: Readonly<Record<string, string>>): Promise<Start> => {
  await using service = await startService(env)
  return { seconds: service.readyMs / 1_000, megabytes: memoryOf(service.pid) }
}

const embedded = async (): Promise<readonly [first: Start, later: Start]> => {
  const folder = mkdtempSync(join(tmpdir(), "scheduling-bench-"))
  try {
    const env = { DATA_DIR: join(folder, "data") }
    return [await startOnce(env), await startOnce(env)]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const onPostgres = async (): Promise<Start> => {
  await using database = await makeDatabase()
  await startOnce({ DATABASE_URL: database.url })
  return await startOnce({ DATABASE_URL: database.url })
}

export const measureStart = async (): Promise<Report> => {
  const first: Array<Start> = []
  const later: Array<Start> = []
  const postgres: Array<Start> = []
  for (let round = 0; round < rounds; round++) {
    const [one, two] = await embedded()
    first.push(one)
    later.push(two)
    postgres.push(await onPostgres())
  }
  const row = (name: string, starts: ReadonlyArray<Start>) => [
    name,
    formatSpread(starts.map(({ seconds }) => seconds)),
    formatSpread(starts.map(({ megabytes }) => megabytes))
  ]
  const secondsOf = (starts: ReadonlyArray<Start>) =>
    formatNumber(median(starts.map(({ seconds }) => seconds)))
  return {
    title: "Start",
    work: `From process start to the first response of \`/v1/ready\`, and its resident memory at that time; ${rounds} times.`,
    columns: ["", "seconds", "memory, MB"],
    rows: [
      row("embedded store, first start", first),
      row("embedded store, later starts", later),
      row("PostgreSQL", postgres)
    ],
    goal: "≤ 3 s, 2 s and 1 s; at most 200 MB on PostgreSQL",
    result: `${secondsOf(first)} s, ${secondsOf(later)} s and ${secondsOf(postgres)} s; ${formatNumber(median(postgres.map(({ megabytes }) => megabytes)))} MB`
  }
}
