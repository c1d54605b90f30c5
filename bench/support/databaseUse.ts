import { Client } from "pg"
import { processorTimeOf } from "./processorTime.ts"

export interface DatabaseUse {
  /** Of the server's processes that serve the database's connections. */
  readonly processorMs: number
  readonly transactions: number
}

export interface DatabaseWatch extends AsyncDisposable {
  /** Since the call before it. */
  readonly since: () => Promise<DatabaseUse>
}

/** What is done in a database of a server on this machine, without what it takes to ask for it. */
export const watchDatabase = async (url: string): Promise<DatabaseWatch> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const read = async () => {
    const { rows } = await client.query<{
      readonly pids: ReadonlyArray<number>
      readonly transactions: number
    }>(
      `SELECT
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
    const { pids = [], transactions = 0 } = rows[0] ?? {}
    return { transactions, processes: new Map(pids.map((pid) => [pid, processorTimeOf(pid)])) }
  }
  let last = await read()
  return {
    since: async () => {
      const before = last
      last = await read()
      return {
        processorMs: [...last.processes].reduce(
          (sum, [pid, ms]) => sum + ms - (before.processes.get(pid) ?? 0),
          0
        ),
        transactions: last.transactions - before.transactions - 1
      }
    },
    [Symbol.asyncDispose]: () => client.end()
  }
}
