import { Schema } from "effect"

export const defaultPageLimit = 20

/**
 * The position at which a list continues. Opaque: take it from `next_cursor` and send it back
 * unchanged.
 */
export const Cursor = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{22}$/u, { expected: "a cursor taken from next_cursor" })
).annotate({ examples: ["AZqfPFsefEqdLz6LemxdQQ"] })

/** The query parameters of every list. */
export const PageQuery = {
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })).annotate({
      description: "The maximum number of records per page.",
      default: defaultPageLimit
    })
  ),
  cursor: Schema.optionalKey(
    Cursor.annotate({
      description: "The `next_cursor` of the previous page. Absent for the first page."
    })
  )
}

export interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}

/** Totals are exact up to this number. */
export const maxTotal = 10_000

/** The query parameter of lists that can return a total. */
export const TotalQuery = {
  total: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Whether to return the total number of records on all pages.",
      default: false
    })
  )
}

/** One page of a list, newest first. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly next_cursor: string | null
}

export const Page = <Item extends Schema.Top>(identifier: string, item: Item) =>
  Schema.Struct({
    data: Schema.Array(item).annotate({ description: "The records of this page." }),
    next_cursor: Schema.NullOr(Cursor).annotate({ description: "Null on the last page." })
  }).annotate({
    identifier,
    description: "One page, newest first. Pass `next_cursor` as `cursor` to get the next one."
  })

/** A page with the total number of records, if the query contains `total`. */
export interface CountedPage<A> extends Page<A> {
  readonly total: number | null
}

const Total = Schema.NullOr(Schema.Int).annotate({
  identifier: "Total",
  description:
    `The number of records on all pages: exact up to ${maxTotal}, and ${maxTotal + 1} if there are ` +
    "more. Null unless the request has `total=true`.",
  examples: [42]
})

export const CountedPage = <Item extends Schema.Top>(identifier: string, item: Item) =>
  Schema.Struct({
    ...Page(identifier, item).fields,
    total: Total
  }).annotate({
    identifier,
    description: "One page, newest first. Pass `next_cursor` as `cursor` to get the next one."
  })
