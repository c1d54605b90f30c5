import { Schema } from "effect"
import { tagFilter } from "../Tags.ts"
import { NameFilter } from "./NameFilter.ts"
import { keyFilters } from "./CallerChosenKey.ts"
import { CountedPage, PageQuery, TotalQuery } from "./Page.ts"
import { repeatable } from "./repeatable.ts"

/** A cursor of a sortable list. Also contains the sort value at the end of the page. */
const SortedCursor = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{22,1200}$/u, { expected: "a cursor taken from next_cursor" })
).annotate({ examples: ["AZqfPFsefEqdLz6LemxdQQ"] })

/** The query parameters of a list of user-defined records, without the status filter. */
export const listQuery = <const Sorts extends ReadonlyArray<string>>(sorts: Sorts) => ({
  limit: PageQuery.limit,
  cursor: Schema.optionalKey(
    SortedCursor.annotate({
      description:
        "The `next_cursor` of the previous page, with the same `sort`. Absent for the first page."
    })
  ),
  sort: Schema.optionalKey(
    Schema.Literals(sorts).annotate({
      description:
        "The sort order. `-` means descending. Defaults to `-created_at`, the newest first."
    })
  ),
  ...TotalQuery,
  name: Schema.optionalKey(NameFilter),
  tag: Schema.optionalKey(tagFilter("One of the tags")),
  ...keyFilters
})

/** Like `listQuery`, with a status filter. */
export const listQueryWithStatus = <
  Status extends Schema.Top,
  const Sorts extends ReadonlyArray<string>
>(
  status: Status,
  sorts: Sorts
) => ({
  status: Schema.optionalKey(repeatable(status, "The status")),
  ...listQuery(sorts)
})

export interface ListQuery {
  readonly limit?: number
  readonly cursor?: string
  readonly sort?: string
  readonly total?: boolean
  readonly name?: string
  readonly tag?: ReadonlyArray<string>
  readonly key?: string
  readonly key_prefix?: string
}

/** A page of a sortable list. */
export const ListPage = <Item extends Schema.Top>(identifier: string, item: Item) =>
  Schema.Struct({
    ...CountedPage(identifier, item).fields,
    next_cursor: Schema.NullOr(SortedCursor).annotate({ description: "Null on the last page." })
  }).annotate({
    identifier,
    description:
      "One page, newest first unless `sort` says otherwise. Pass `next_cursor` as `cursor` to get " +
      "the next one."
  })
