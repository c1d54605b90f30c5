import { Client } from "pg"
import { query } from "../support/database.ts"

/**
 * Calls, of which the first is due in `startsInMs` and the others evenly over `spreadMs` after it.
 */
export interface Work {
  readonly count: number
  readonly startsInMs: number
  readonly spreadMs: number
}

/** A call in the engine's history. Times are milliseconds since the epoch. */
export interface RecordedCall {
  readonly id: string
  readonly dueMs: number
  readonly startedMs: number
}

/** Makes calls when they are due: this service or a peer, running on a database of its own. */
export interface Engine extends AsyncDisposable {
  readonly pid: number
  /** Creates scheduled tasks, all at once. */
  readonly schedule: (work: Work) => Promise<void>
  /** Puts calls that are due now into the queue, all at once. */
  readonly enqueue: (count: number) => Promise<void>
  /** Whether no work is left and the history has this many successful calls. */
  readonly isDone: (calls: number) => Promise<boolean>
  readonly history: () => Promise<ReadonlyArray<RecordedCall>>
}

export interface EngineOptions {
  readonly database: string
  /** The body of every call. */
  readonly body: string
  readonly sinkUrl: string
  readonly env?: Readonly<Record<string, string>>
}

/** The usual body of a call. */
export const smallBody = JSON.stringify({ report: "daily", recipients: ["ops@example.com"] })

/** The time at which the n-th of `$1` calls is due. `$2` and `$3` come from `dueValues`. */
export const dueAt = "now() + ($2::float8 + n * $3::float8) * interval '1 millisecond'"

export const dueValues = ({ count, spreadMs, startsInMs }: Work) => [
  count,
  startsInMs,
  spreadMs / count
]

/**
 * Runs in one transaction, so that everything arrives at once, and analyzes the tables, so that the
 * planner knows them as in normal operation.
 */
export const fill = async (
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

/** `queue` and `history` are the texts after FROM. */
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
