/**
 * pg-boss, tuned for throughput as its documentation recommends: a separate table, batches, and no
 * pause after a full batch. Four workers were the fastest setting in this benchmark.
 */
import { createServer } from "node:http"
import { Pool } from "pg"
import { PgBoss } from "pg-boss"
import { type JobPayload, makeCall, concurrency } from "./calls.ts"
import { createHistoryTable, insertHistory } from "./history.ts"

const connectionString = process.env["DATABASE_URL"] ?? ""
const pool = new Pool({ connectionString, max: 10 })
await createHistoryTable(pool, "uuid")

const workers = 4
const boss = new PgBoss({ connectionString, max: 10 })
boss.on("error", (error) => console.error(error))
await boss.start()
await boss.createQueue("call", { partition: true })
await boss.work<JobPayload>(
  "call",
  {
    batchSize: concurrency / workers,
    localConcurrency: workers,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true
  },
  async (jobs) => {
    await insertHistory(pool, await Promise.all(jobs.map(({ data, id }) => makeCall(id, data))))
  }
)

createServer((_, response) => response.end()).listen(Number(process.env["PORT"]), "127.0.0.1")
process.once("SIGTERM", async () => {
  await boss.stop({ graceful: false })
  process.exit(0)
})
