import { PgBoss } from "pg-boss"
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

interface Job {
  readonly data: object
  readonly startAfter: Date
}

export const startPgBoss = async ({
  body,
  database,
  env,
  sinkUrl
}: EngineOptions): Promise<Engine> => {
  const server = await startPeer("pgBoss", { DATABASE_URL: database, SINK_URL: sinkUrl, ...env })
  const schedule = (work: ScheduledCalls) =>
    insertAndAnalyze(database, "pgboss.job", async (client) => {
      const { rows } = await client.query<Job>(
        `SELECT ${payloadOf(body)} AS data, ${dueAt} AS "startAfter"
         FROM generate_series(1, $1::int) AS n`,
        dueValues(work)
      )
      const executeSql = (text: string, values?: Array<unknown>) => client.query(text, values)
      await new PgBoss({ db: { executeSql } }).insert("call", rows)
    })
  return {
    pid: server.pid,
    schedule,
    enqueue: (count) => schedule({ count, startsInMs: 0, spreadMs: 0 }),
    isDone: (calls) =>
      isDone(database, "pgboss.job WHERE name = 'call' AND state < 'completed'", "history", calls),
    history: () => readHistory(database, "history"),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]()
  }
}
