import { Client } from "pg"
import { cpuTimeOf } from "./cpuTime.ts"

export interface DatabaseUse {
  /** The CPU time of the server processes that handle connections to the database. */
  readonly cpuMs: number
  readonly transactions: number
  /** WAL bytes, for the whole server. */
  readonly walBytes: number
}

export interface DatabaseWatch extends AsyncDisposable {
  /** Returns the resource usage since the previous call. */
  readonly since: () => Promise<DatabaseUse>
}

/** Measures a database's resource usage on this machine, excluding the cost of measuring. */
export const watchDatabase = async (url: string): Promise<DatabaseWatch> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const read = async () => {
    const { rows } = await client.query<{
      readonly pids: ReadonlyArray<number>
      readonly transactions: number
      readonly wal_bytes: number
    }>(
      `SELECT
         (pg_current_wal_insert_lsn() - '0/0')::float8 AS wal_bytes,
         (xact_commit + xact_rollback)::int AS transactions,
         ARRAY (
           SELECT pid
           FROM pg_stat_activity
           WHERE datname = current_database()
             AND backend_type = 'client backend'
             AND pid <> pg_backend_pid()
         ) AS pids
       FROM pg_stat_database
       WHERE datname = current_database()`
    )
    const { pids = [], transactions = 0, wal_bytes = 0 } = rows[0] ?? {}
    return {
      transactions,
      walBytes: wal_bytes,
      processes: new Map(pids.map((pid) => [pid, cpuTimeOf(pid)]))
    }
  }
  let last = await read()
  return {
    since: async () => {
      const before = last
      last = await read()
      return {
        cpuMs: [...last.processes].reduce(
          (sum, [pid, ms]) => sum + ms - (before.processes.get(pid) ?? 0),
          0
        ),
        transactions: last.transactions - before.transactions - 1,
        walBytes: last.walBytes - before.walBytes
      }
    },
    [Symbol.asyncDispose]: () => client.end()
  }
}
