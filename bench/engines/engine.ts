import { Client } from "pg"
import { query } from "../support/database.ts"

/** Calls of which the first is due in `startsInMs`, and the others evenly over `spreadMs` after it. */
export interface Work {
  readonly count: number
  readonly startsInMs: number
  readonly spreadMs: number
}

/** A call as the engine's history has it; times are milliseconds since the epoch. */
export interface RecordedCall {
  readonly id: string
  readonly dueMs: number
  readonly startedMs: number
}

/** What makes calls when they are due: this service or a peer, running on a database of its own. */
export interface Engine extends AsyncDisposable {
  readonly pid: number
  /** Makes scheduled tasks, all at once. */
  readonly schedule: (work: Work) => Promise<void>
  /** Puts calls into the queue that are due now, all at once. */
  readonly enqueue: (count: number) => Promise<void>
  /** Whether nothing is left to do, and the history has so many calls that went well. */
  readonly isDone: (calls: number) => Promise<boolean>
  readonly history: () => Promise<ReadonlyArray<RecordedCall>>
}

export interface EngineOptions {
  readonly database: string
  readonly sinkUrl: string
  readonly env?: Readonly<Record<string, string>>
}

/** The body of every call. */
export const callBody = JSON.stringify({ report: "daily", recipients: ["ops@example.com"] })

/** When the n-th of `$1` calls is due: `$2` and `$3` are of `dueValues`. */
export const dueAt = "now() + ($2::float8 + n * $3::float8) * interval '1 millisecond'"

export const dueValues = ({ count, spreadMs, startsInMs }: Work) => [
  count,
  startsInMs,
  spreadMs / count
]

/** In one transaction, so that all of it comes at once, and known to the planner as in a table of long. */
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

/** `queue` and `history` are what comes after FROM. */
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
