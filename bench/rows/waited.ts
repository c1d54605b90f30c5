import { SchedulingClient } from "@scheduling/sdk"
import { setTimeout } from "node:timers/promises"
import { makeDatabase } from "../support/database.ts"
import { startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { startSink } from "../support/sink.ts"
import { formatNumber, percentile } from "../support/statistics.ts"

const warmUp = 20
const count = 200
/**
 * The pause between two runs. It is longer than the delay before results are written in a batch.
 */
const pauseMs = 40

export const measureRunAndWait = async (): Promise<Report> => {
  await using running = new AsyncDisposableStack()
  const { url: database } = running.use(await makeDatabase())
  const sink = running.use(await startSink({ answer: "ok", keepsConnections: true }))
  const service = running.use(await startService({ DATABASE_URL: database, LOG_LEVEL: "warn" }))
  const client = await SchedulingClient.register({
    baseUrl: service.url,
    email: "bench@example.com",
    password: "correct horse battery staple"
  })
  const task = await client.cron.create({ name: "once", schedule: "0 0 1 1 *", url: sink.url })
  const took: Array<number> = []
  for (let n = 0; n < warmUp + count; n++) {
    const startedAt = performance.now()
    const { id } = await client.cron.run(task.id)
    const { status } = await client.executions.get(id, { wait_seconds: 30 })
    if (status !== "succeeded") throw new Error(`the run is ${status}`)
    if (n >= warmUp) took.push(performance.now() - startedAt)
    await setTimeout(pauseMs)
  }
  return {
    title: "One run and its result",
    work: `Runs a task and waits for its result with \`wait_seconds\`, ${count} times, one after another, with the SDK, on PostgreSQL, with a receiver on the same machine.`,
    columns: ["", "p50 ms", "p95 ms", "longest ms"],
    rows: [
      ["this service", ...[0.5, 0.95, 1].map((share) => formatNumber(percentile(took, share)))]
    ],
    goal: "p50 ≤ 25 ms",
    result: `p50 ${formatNumber(percentile(took, 0.5))} ms`
  }
}
