import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { batched } from "./batched.ts"
import { columnsOf } from "./columns.ts"
import type { PageRequest } from "./Pages.ts"

/** A page of what a workspace has. */
export interface AskedPage {
  readonly workspaceId: string
  readonly page: PageRequest
}

interface RowOfPage {
  readonly id: string
  /** Whose page it is in. */
  readonly n: number
}

/**
 * Reads the pages that requests of one moment ask for with one statement, and a page that several ask
 * for only once. PostgreSQL need not sort the rows: they come in order as good as always.
 */
export const batchPages = <Row extends RowOfPage>(
  readAll: (asked: ReadonlyArray<AskedPage>) => Effect.Effect<ReadonlyArray<Row>>
): Effect.Effect<(asked: AskedPage) => Effect.Effect<ReadonlyArray<Row>>> =>
  batched(
    (asked) => {
      const keys = asked.map(keyOf)
      const byKey = new Map(asked.map((page, index) => [keys[index], page]))
      const numbers = new Map([...byKey.keys()].map((key, n) => [key, n]))
      return Effect.map(readAll([...byKey.values()]), (rows) => {
        const pages = Map.groupBy(rows, ({ n }) => n)
        for (const page of pages.values()) page.sort(newestFirst)
        return keys.map((key) => pages.get(numbers.get(key) ?? -1) ?? [])
      })
    },
    { maxBatch }
  )

/** The pages as a table: `n`, and of which rows how many. */
export const askedPages = (sql: SqlClient.SqlClient, asked: ReadonlyArray<AskedPage>) => {
  const column = columnsOf([...asked.entries()])
  return sql`
    unnest(
      ${column("int4", ([n]) => n)},
      ${column("uuid", ([, { workspaceId }]) => workspaceId)},
      ${column("uuid", ([, { page }]) => page.before)},
      ${column("int4", ([, { page }]) => page.limit + 1)}
    ) AS asked (n, workspace_id, before, rows)`
}

// ---------------------------------------------------------------------------

/** A page may weigh 2 MiB: no answer of the database holds too many of them. */
const maxBatch = 16

const keyOf = ({ page, workspaceId }: AskedPage) => `${workspaceId} ${page.before} ${page.limit}`

const newestFirst = (a: RowOfPage, b: RowOfPage) => (a.id < b.id ? 1 : -1)
