import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { batchRequests } from "./batchRequests.ts"
import { columnsOf } from "./columnsOf.ts"
import type { PageRequest } from "./Page.ts"

export interface RequestedPage {
  readonly workspaceId: AuthorizedWorkspaceId
  readonly page: PageRequest
}

interface RowOfPage {
  readonly id: string
  /** The number of the page to which the row belongs. */
  readonly n: number
}

/**
 * Reads the pages of concurrent requests with one statement, and each page only once. The statement
 * need not sort its rows, because they mostly arrive in order and sorting them here is cheap.
 */
export const batchPageReads = <Row extends RowOfPage>(
  readAll: (asked: ReadonlyArray<RequestedPage>) => Effect.Effect<ReadonlyArray<Row>>
): Effect.Effect<(asked: RequestedPage) => Effect.Effect<ReadonlyArray<Row>>> =>
  batchRequests(
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

/**
 * SQL for the requested pages as a table with the number, the workspace, the start and the number
 * of rows of each page.
 */
export const requestedPages = (sql: SqlClient.SqlClient, asked: ReadonlyArray<RequestedPage>) => {
  const column = columnsOf([...asked.entries()])
  return sql`
    unnest(
      ${column("int4", ([n]) => n)},
      ${column("uuid", ([, { workspaceId }]) => workspaceId)},
      ${column("uuid", ([, { page }]) => page.before)},
      ${column("int4", ([, { page }]) => page.limit + 1)}
    ) AS asked (n, workspace_id, before, rows)`
}

/** The maximum number of pages in one result, because a page can have 2 MiB. */
const maxBatch = 16

const keyOf = ({ page, workspaceId }: RequestedPage) =>
  `${workspaceId} ${page.before} ${page.limit}`

const newestFirst = (a: RowOfPage, b: RowOfPage) => (a.id < b.id ? 1 : -1)
