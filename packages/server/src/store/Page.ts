import {
  type CountedPage,
  defaultPageLimit,
  maxTotal,
  type Page,
  type PageQuery
} from "@scheduling/domain/shared/requests/Page"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"

/** The page that a repository reads: `limit + 1` rows with ids below `before`. */
export interface PageRequest {
  readonly limit: number
  readonly before: string
}

const afterAllIds = "ffffffff-ffff-ffff-ffff-ffffffffffff"

export const pageRequest = (query: PageQuery): PageRequest => ({
  limit: query.limit ?? defaultPageLimit,
  before: query.cursor === undefined ? afterAllIds : idOfCursor(query.cursor)
})

/**
 * The maximum size of a page in bytes. The row that exceeds the size is the last row of the page.
 * Only pages of tasks reach it, because the bodies of tasks can be long.
 */
export const maxPageBytes = 2 * 1024 * 1024

export interface PageRow {
  readonly id: string
  /** The bytes of this row and of the earlier rows in its page, if the statement counts them. */
  readonly page_bytes?: number
  /** The value by which the list is sorted. Absent if the list is sorted by id. */
  readonly sort_value?: string
}

/**
 * Converts rows to a page. The additional row after the page only shows that there is a next page.
 */
export const toPage = <Row extends PageRow, A>(
  rows: ReadonlyArray<Row>,
  { limit }: PageRequest,
  toItem: (row: Row) => A
): Page<A> => {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = rows.length > limit || (last?.page_bytes ?? 0) > maxPageBytes
  return {
    data: shown.map(toItem),
    next_cursor: hasMore && last !== undefined ? cursorOf(last) : null
  }
}

/**
 * Returns a page, with the number of rows on all pages if the query requests it. The two statements
 * run concurrently.
 */
export const countedPage = <A, E, R, E2, R2>(
  { total = false }: { readonly total?: boolean },
  page: Effect.Effect<Page<A>, E, R>,
  count: Effect.Effect<number, E2, R2>
): Effect.Effect<CountedPage<A>, E | E2, R | R2> =>
  total
    ? Effect.zipWith(page, count, (listed, counted) => ({ ...listed, total: counted }), {
        concurrent: true
      })
    : Effect.map(page, (listed) => ({ ...listed, total: null }))

/** Counts the rows of a query, up to one more than the limit of exact totals. */
export const countRows = (sql: SqlClient.SqlClient, rows: Statement.Fragment) =>
  sql<{ readonly count: number }>`
    SELECT count(*)::int4 AS count
    FROM (
      ${rows}
      LIMIT ${maxTotal + 1}
    ) AS counted`.pipe(Effect.map(([row]) => row?.count ?? 0))

const cursorOf = ({ id, sort_value = "" }: Pick<PageRow, "id" | "sort_value">) =>
  Buffer.concat([Buffer.from(id.replaceAll("-", ""), "hex"), Buffer.from(sort_value)]).toString(
    "base64url"
  )

const idBytes = 16

const idOfCursor = (cursor: string) =>
  Buffer.from(cursor, "base64url")
    .subarray(0, idBytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")

/** Decodes the id and the sort value of the last row of a page. */
export const positionOfCursor = (
  cursor: string
): { readonly id: string; readonly value: string } => ({
  id: idOfCursor(cursor),
  value: Buffer.from(cursor, "base64url").subarray(idBytes).toString()
})
