/**
 * graphile-worker, tuned for throughput as its authors recommend, with a local queue and batched
 * completions. This queue size, and no batching delay when completing jobs, were the fastest
 * settings in this benchmark.
 */
import { Logger, run } from "graphile-worker"
import { createServer } from "node:http"
import { Pool } from "pg"
import { type JobPayload, makeCall, concurrency } from "./calls.ts"
import { historyWriter, createHistoryTable } from "./history.ts"

const connectionString = process.env["DATABASE_URL"] ?? ""
const pool = new Pool({ connectionString, max: 10 })
await createHistoryTable(pool, "bigint")
const write = historyWriter(pool)

const runner = await run({
  logger: new Logger(() => () => {}),
  noHandleSignals: true,
  preset: {
    worker: {
      connectionString,
      maxPoolSize: 10,
      concurrentJobs: concurrency,
      pollInterval: Number(process.env["POLL_MS"] ?? 2_000),
      localQueue: { size: 5_000 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0
    }
  },
  taskList: {
    call: async (payload, { job }) => {
      await write(await makeCall(job.id, payload as JobPayload))
    }
  }
})

createServer((_, response) => response.end()).listen(Number(process.env["PORT"]), "127.0.0.1")
process.once("SIGTERM", async () => {
  await runner.stop()
  process.exit(0)
})
