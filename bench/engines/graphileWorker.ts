import { startPeer } from "../support/processes.ts"
import {
  dueAt,
  dueValues,
  type Engine,
  type EngineOptions,
  insertAndAnalyze,
  isDone,
  readHistory,
  type ScheduledCalls
} from "./engine.ts"
import { payloadOf } from "./payload.ts"

const jobs = "graphile_worker._private_jobs"

export const startGraphileWorker = async ({
  body,
  database,
  env,
  sinkUrl
}: EngineOptions): Promise<Engine> => {
  const server = await startPeer("graphileWorker", {
    DATABASE_URL: database,
    SINK_URL: sinkUrl,
    ...env
  })
  const schedule = (work: ScheduledCalls) =>
    insertAndAnalyze(database, jobs, (client) =>
      client.query(
        `SELECT count(*)
         FROM graphile_worker.add_jobs((
           SELECT array_agg(
             json_populate_record(
               NULL::graphile_worker.job_spec,
               json_build_object('identifier', 'call', 'payload', ${payloadOf(body)}, 'run_at', ${dueAt})
             )
           )
           FROM generate_series(1, $1::int) AS n
         ))`,
        dueValues(work)
      )
    )
  return {
    pid: server.pid,
    schedule,
    enqueue: (count) => schedule({ count, startsInMs: 0, spreadMs: 0 }),
    isDone: (calls) => isDone(database, jobs, "history", calls),
    history: () => readHistory(database, "history"),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]()
  }
}
