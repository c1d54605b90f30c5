/**
 * graphile-worker as its authors tune it for throughput: a local queue and batched completions. Its
 * queue size, and completing without a batching delay, were the fastest settings in this bench.
 */
import { Logger, run } from "graphile-worker"
import { createServer } from "node:http"
import { Pool } from "pg"
import { type Call, call, concurrency } from "./calls.ts"
import { historyWriter, makeHistory } from "./history.ts"

const connectionString = process.env["DATABASE_URL"] ?? ""
const pool = new Pool({ connectionString, max: 10 })
await makeHistory(pool, "bigint")
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
      await write(await call(job.id, payload as Call))
    }
  }
})

createServer((_, response) => response.end()).listen(Number(process.env["PORT"]), "127.0.0.1")
process.once("SIGTERM", async () => {
  await runner.stop()
  process.exit(0)
})
