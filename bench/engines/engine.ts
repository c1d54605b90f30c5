import { Client } from "pg"
import { query } from "../support/database.ts"

/** Calls that are due at even intervals over `spreadMs`. The first is due in `startsInMs`. */
export interface ScheduledCalls {
  readonly count: number
  readonly startsInMs: number
  readonly spreadMs: number
}

/** A call recorded in the engine's history. Times are milliseconds since the epoch. */
export interface RecordedCall {
  readonly id: string
  readonly dueMs: number
  readonly startedMs: number
}

/**
 * An engine that makes calls when they are due, with its own database: this service or another
 * scheduler.
 */
export interface Engine extends AsyncDisposable {
  readonly pid: number
  /** Creates scheduled tasks, all in one transaction. */
  readonly schedule: (work: ScheduledCalls) => Promise<void>
  /** Adds calls that are due now to the queue, all in one transaction. */
  readonly enqueue: (count: number) => Promise<void>
  /** Returns whether all work is done and the history contains this many successful calls. */
  readonly isDone: (calls: number) => Promise<boolean>
  readonly history: () => Promise<ReadonlyArray<RecordedCall>>
}

export interface EngineOptions {
  readonly database: string
  readonly body: string
  readonly sinkUrl: string
  readonly env?: Readonly<Record<string, string>>
}

/** The body of a call, unless a measurement uses a different body. */
export const smallBody = JSON.stringify({ report: "daily", recipients: ["ops@example.com"] })

/** SQL for the time at which the n-th of `$1` calls is due. `$2` and `$3` come from `dueValues`. */
export const dueAt = "now() + ($2::float8 + n * $3::float8) * interval '1 millisecond'"

export const dueValues = ({ count, spreadMs, startsInMs }: ScheduledCalls) => [
  count,
  startsInMs,
  spreadMs / count
]

/**
 * Runs the statements in one transaction, so that all rows become visible together, and analyzes
 * the tables, so that the planner has realistic statistics.
 */
export const insertAndAnalyze = async (
  database: string,
  tables: string,
  insert: (client: Client) => Promise<unknown>
): Promise<void> => {
  const client = new Client({ connectionString: database })
  await client.connect()
  try {
    await client.query("BEGIN")
    await insert(client)
    await client.query(`ANALYZE ${tables}`)
    await client.query("COMMIT")
  } finally {
    await client.end()
  }
}

/** Implements `isDone` with SQL. `queue` and `history` are FROM clauses. */
export const isDone = async (
  database: string,
  queue: string,
  history: string,
  calls: number
): Promise<boolean> => {
  const [row] = await query<{ readonly done: boolean }>(
    database,
    `SELECT NOT EXISTS (SELECT FROM ${queue}) AND (SELECT count(*) FROM ${history}) = $1 AS done`,
    [calls]
  )
  return row?.done ?? false
}

export const readHistory = (database: string, history: string) =>
  query<RecordedCall>(
    database,
    `SELECT
       id::text,
       extract(epoch FROM scheduled_for)::float8 * 1000 AS "dueMs",
       extract(epoch FROM started_at)::float8 * 1000 AS "startedMs"
     FROM ${history}`
  )
