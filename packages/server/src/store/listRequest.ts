import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type PageRequest, pageRequest, positionOfCursor } from "./Page.ts"

/** A value by which rows can be sorted. `sql` is an expression that is never null. */
interface SortValue {
  readonly sql: string
  readonly type: "int8" | "text"
}

/** The sort values of a list by their names in the query, except `created_at`. */
export type SortValues = Readonly<Record<string, SortValue>>

/** Sorts by a name, case-insensitively. */
export const sortByName = (column: string): SortValue => ({
  sql: `lower(coalesce(${column}, ''))`,
  type: "text"
})

/** Sorts by a time. Rows without a time come last in ascending order. */
export const sortByTime = (column: string): SortValue => ({
  sql: `coalesce((extract(epoch FROM ${column}) * 1000000)::int8, 1000000000000000000)`,
  type: "int8"
})

interface Position {
  readonly id: string
  readonly value: string
}

/** The input of a repository for one page of a sortable list. */
export interface ListRequest extends PageRequest {
  readonly isDescending: boolean
  /**
   * The value by which the list is sorted. Absent if the list is sorted by `created_at`, which is
   * also the order of ids.
   */
  readonly by?: SortValue
  /** The row after which the page begins. Absent for the first page. */
  readonly after?: Position
}

/** Fails if the cursor belongs to a different sort order. */
export const listRequest = (
  query: { readonly limit?: number; readonly cursor?: string; readonly sort?: string },
  values: SortValues
): Effect.Effect<ListRequest, ValidationFailed> => {
  const { cursor, sort = "-created_at" } = query
  const by = values[sort.replace(/^-/, "")]
  const after = cursor === undefined ? undefined : positionOfCursor(cursor)
  return after === undefined || isOf(by, after)
    ? Effect.succeed({
        ...pageRequest(query),
        isDescending: sort.startsWith("-"),
        ...(by !== undefined && { by }),
        ...(after !== undefined && { after })
      })
    : foreignCursor
}

/** Returns whether the list has the default order. */
export const isNewestFirst = ({ by, isDescending }: ListRequest): boolean =>
  by === undefined && isDescending

const isOf = (by: SortValue | undefined, { value }: Position): boolean =>
  by === undefined
    ? value === ""
    : by.type === "int8"
      ? /^-?\d{1,18}$|^10{18}$/.test(value)
      : value.isWellFormed() && !value.includes("\0")

const foreignCursor = Effect.suspend(() =>
  Effect.fail(
    ValidationFailed.at(
      ["cursor"],
      "invalid",
      "belongs to a list with another sort or direction: use a next_cursor of this list"
    )
  )
)

const direction = ({ isDescending }: ListRequest) => (isDescending ? "DESC" : "ASC")

/** SQL for the order of the rows. `id` is the column of the id. */
export const listOrder = (request: ListRequest, id: string): string =>
  [request.by?.sql, id]
    .filter((value) => value !== undefined)
    .map((value) => `${value} ${direction(request)}`)
    .join(", ")

/** SQL condition for the rows that come after the previous page. */
export const isListedAfter = (
  sql: SqlClient.SqlClient,
  { after, by, isDescending }: ListRequest,
  id: string
): Statement.Fragment => {
  if (after === undefined) return sql`true`
  const compares = sql.literal(isDescending ? "<" : ">")
  return by === undefined
    ? sql`${sql.literal(id)} ${compares} ${after.id}::uuid`
    : sql`(${sql.literal(`${by.sql}, ${id}`)}) ${compares} (
        ${after.value}::${sql.literal(by.type)}, ${after.id}::uuid
      )`
}

/**
 * SQL for an additional column of the select list, from which the next page's cursor is created.
 */
export const sortColumn = ({ by }: ListRequest): string =>
  by === undefined ? "" : `, (${by.sql})::text AS sort_value`
