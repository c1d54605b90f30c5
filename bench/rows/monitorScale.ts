import { makeDatabase } from "../support/database.ts"
import { watchDatabase } from "../support/databaseUse.ts"
import { insertHeartbeats } from "../support/heartbeats.ts"
import { idleMs, idleRounds, measureIdle, resourceUseOf } from "../support/idle.ts"
import { newWorkspaces } from "../support/population.ts"
import { startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, ratios, formatSpread } from "../support/statistics.ts"

const sizes = [10_000, 1_000_000]
const monthMs = 30 * 86_400_000

const populate = async (size: number) => {
  await using starting = new AsyncDisposableStack()
  const { url } = starting.use(await makeDatabase())
  const service = starting.use(await startService({ DATABASE_URL: url, LOG_LEVEL: "warn" }))
  const [workspace] = await newWorkspaces(service.url, 1)
  const ids = workspace === undefined ? [] : [workspace.id]
  await insertHeartbeats(url, ids, { count: size, firstInMs: monthMs, spreadMs: monthMs })
  const watch = starting.use(await watchDatabase(url))
  const stack = starting.move()
  return {
    size,
    used: resourceUseOf(service.pid, watch),
    [Symbol.asyncDispose]: () => stack.disposeAsync()
  }
}

export const measureMonitorScale = async (): Promise<Report> => {
  await using running = new AsyncDisposableStack()
  const populations = []
  for (const size of sizes) populations.push(running.use(await populate(size)))
  const idle = await measureIdle(populations)
  const ratio = formatNumber(median(ratios(idle.at(-1)?.both ?? [], idle[0]?.both ?? [])))
  return {
    title: "Scale of monitors",
    work: `The service with this many heartbeats whose deadlines are next month: CPU time of the service and PostgreSQL while nothing is due (${idleRounds} times ${idleMs / 1_000} s).`,
    columns: ["", "idle, CPU ms per second", "service + PostgreSQL", "statements per second"],
    rows: populations.map(({ size }, index) => {
      const { both = [], postgres = [], service = [], transactions = [] } = idle[index] ?? {}
      return [
        `${formatNumber(size)} heartbeats`,
        formatSpread(both),
        `${formatNumber(median(service))} + ${formatNumber(median(postgres))}`,
        formatNumber(median(transactions))
      ]
    }),
    goal: "≤ 1.2 ×",
    result: `${ratio} ×`
  }
}
