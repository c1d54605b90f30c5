/**
 * The history of calls made by the compared schedulers. It has the same fields as the service's
 * history, but its table is not partitioned.
 */
import type { Pool as Database } from "pg"
import type { HistoryRow } from "./calls.ts"

export const createHistoryTable = (database: Database, idType: "bigint" | "uuid") =>
  database.query(`
    CREATE TABLE history (
      id ${idType} PRIMARY KEY,
      workspace_id uuid NOT NULL,
      task_id uuid NOT NULL,
      status text NOT NULL,
      scheduled_for timestamptz NOT NULL,
      started_at timestamptz NOT NULL,
      finished_at timestamptz NOT NULL,
      duration_ms integer NOT NULL,
      status_code integer NOT NULL,
      response_body text NOT NULL
    );
    CREATE INDEX history_by_workspace ON history (workspace_id, id DESC);
    CREATE INDEX history_by_task ON history (task_id, id DESC)`)

export const insertHistory = (database: Database, rows: ReadonlyArray<HistoryRow>) =>
  database.query({
    name: "write_history",
    text: "INSERT INTO history SELECT * FROM json_populate_recordset(NULL::history, $1)",
    values: [JSON.stringify(rows)]
  })

/**
 * Writes rows in batches. Rows that arrive during a write form the next batch. A row's promise
 * resolves once the row has been written.
 */
export const historyWriter = (database: Database) => {
  let rows: Array<HistoryRow> = []
  let next: Promise<void> | undefined
  let underWay: Promise<unknown> = Promise.resolve()
  const flush = async () => {
    await underWay.catch(() => {})
    const batch = rows
    rows = []
    next = undefined
    underWay = insertHistory(database, batch)
    await underWay
  }
  return (row: HistoryRow): Promise<void> => {
    rows.push(row)
    next ??= flush()
    return next
  }
}
