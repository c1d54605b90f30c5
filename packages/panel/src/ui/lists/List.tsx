import { useWindowVirtualizer } from "@tanstack/react-virtual"
import {
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState
} from "react"
import { classes } from "../classes.ts"
import { Skeleton } from "../layout/Page.tsx"
import { Problem } from "../messages/Problem.tsx"
import { useRowDensity } from "./density.ts"

export interface Column<Row> {
  readonly key: string
  readonly head: ReactNode
  readonly cell: (row: Row) => ReactNode
  /** Width classes: `w-40`, or `grow basis-0` to fill the remaining width. */
  readonly className: string
  /** Set if a phone shows the cell on a line below the other cells, alone or after its head. */
  readonly belowOnPhone?: "plain" | "labelled" | undefined
}

const below =
  "max-sm:order-2 max-sm:w-auto max-sm:max-w-full max-sm:shrink max-sm:text-sm max-sm:has-[>.detail]:flex max-sm:has-[>.detail]:items-baseline max-sm:has-[>.detail]:gap-2"

/**
 * A virtualized list: only visible rows are in the document, and the next page is fetched before
 * the user reaches it. Clicking anywhere in a row follows its first link (`rowLinkClass`).
 */
export const List = <Row extends { readonly id: string }>({
  columns,
  empty,
  error = null,
  hasMore = false,
  isLoading = false,
  label,
  onMore,
  refetch,
  rows
}: {
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly isLoading?: boolean
  readonly hasMore?: boolean
  readonly onMore?: () => void
  readonly error?: unknown
  readonly refetch?: () => unknown
  readonly empty: ReactNode
}) => {
  const body = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const { density, height, isFixed } = useRowDensity()
  useLayoutEffect(() => setTop(body.current?.offsetTop ?? 0), [])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
    estimateSize: () => height,
    overscan: 12,
    scrollMargin: top
  })
  useLayoutEffect(() => virtual.measure(), [virtual, height, isFixed])
  const items = virtual.getVirtualItems()
  const isNearEnd = (items.at(-1)?.index ?? 0) >= rows.length - 20
  useEffect(() => {
    if (hasMore && isNearEnd) onMore?.()
  }, [hasMore, isNearEnd, onMore, rows.length])

  // Rows that could not be refetched remain below the error.
  const problem = error !== null && <Problem error={error} retry={refetch} />
  if (problem && rows.length === 0) return problem
  if (!isLoading && rows.length === 0) return empty
  const table = (
    <div
      role="table"
      aria-label={label}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      aria-busy={isLoading}
      data-density={density}
      className="overflow-clip rounded-xl border border-line bg-surface shadow-card"
    >
      <div
        role="rowgroup"
        // A phone shows most cells below the name, where no head is above them.
        className="sticky top-0 z-10 border-b border-line bg-surface max-lg:top-14 max-sm:sr-only"
      >
        <div role="row" aria-rowindex={1} className="flex h-9 items-center gap-3 px-4 sm:gap-4">
          {columns.map(({ className, head, key }) => (
            <div
              key={key}
              role="columnheader"
              className={classes("min-w-0 truncate text-xs font-medium text-faint", className)}
            >
              {head}
            </div>
          ))}
        </div>
      </div>
      <div
        ref={body}
        role="rowgroup"
        className="relative"
        style={{ height: isLoading ? height * 8 : virtual.getTotalSize() }}
      >
        {isLoading
          ? Array.from({ length: 8 }, (_, index) => (
              <div
                key={index}
                role="row"
                className="flex h-14 compact:h-10 items-center gap-3 px-4 sm:gap-4"
              >
                {columns.map(({ belowOnPhone, className, key }) => (
                  <div
                    key={key}
                    role="cell"
                    className={classes(
                      "min-w-0",
                      className,
                      belowOnPhone !== undefined && "max-sm:hidden"
                    )}
                  >
                    <Skeleton className="h-4 w-3/5" />
                  </div>
                ))}
              </div>
            ))
          : items.map(({ index, start }) => {
              const row = rows[index]
              return (
                row !== undefined && (
                  <ListRow
                    key={row.id}
                    index={index}
                    offset={start - top}
                    row={row}
                    columns={columns}
                    measure={isFixed ? undefined : virtual.measureElement}
                  />
                )
              )
            })}
      </div>
    </div>
  )
  return problem ? (
    <div className="flex flex-col gap-3">
      {problem}
      {table}
    </div>
  ) : (
    table
  )
}

interface ListRowProps<Row> {
  readonly columns: ReadonlyArray<Column<Row>>
  readonly row: Row
  readonly index: number
  readonly offset: number
  /** Reports the row's height. Undefined if all rows have the same height. */
  readonly measure: ((row: HTMLDivElement | null) => void) | undefined
}

/** Memoized, so that scrolling renders only newly visible rows. */
const ListRow = memo(function ListRow<Row>({
  columns,
  index,
  measure,
  offset,
  row
}: ListRowProps<Row>) {
  return (
    <div
      ref={measure}
      data-index={index}
      role="row"
      aria-rowindex={index + 2}
      className={classes(
        "absolute inset-x-0 top-0 flex items-center gap-x-3 border-b border-line px-4 transition-colors duration-75 sm:h-14 sm:gap-x-4 compact:h-10 last:border-b-0 focus-within:bg-sunken/60 hover:bg-sunken/60",
        "max-sm:min-h-14 max-sm:flex-wrap max-sm:content-center max-sm:gap-y-0.5 max-sm:py-2",
        // The pseudo-element fills a line of its own, so that the cells after it begin a new one.
        "max-sm:after:order-1 max-sm:after:basis-full max-sm:after:content-['']"
      )}
      style={{ transform: `translateY(${offset}px)` }}
    >
      {columns.map(({ belowOnPhone, cell, className, head, key }) => (
        <div
          key={key}
          role="cell"
          className={classes(
            "min-w-0 compact:has-[>.detail]:flex compact:has-[>.detail]:items-baseline compact:has-[>.detail]:gap-3",
            className,
            belowOnPhone !== undefined && below
          )}
        >
          {belowOnPhone === "labelled" && (
            <span className="mr-1 whitespace-nowrap text-faint sm:hidden">{head}</span>
          )}
          {cell(row)}
        </div>
      ))}
    </div>
  )
}) as <Row>(props: ListRowProps<Row>) => ReactNode

/** Classes for text in a row, which takes one line or, on a phone, up to three lines. */
export const rowTextClass =
  "block truncate max-sm:line-clamp-3 max-sm:whitespace-normal max-sm:wrap-anywhere"

/** Classes for a row's name. */
export const rowNameClass = `${rowTextClass} font-medium`

/** Classes for a cell's second line. In single-line rows, it is beside the first line. */
export const rowDetailClass = `detail ${rowTextClass} text-xs text-faint compact:min-w-0 compact:grow compact:basis-0`

/**
 * Classes for both lines of a cell in a column that is hidden on narrow screens. The list sets a
 * `display` for the lines of other cells, which would make a hidden column visible.
 */
export const rowLinesClass = "compact:flex compact:items-baseline compact:gap-3"

/** CSS classes for the time or the reason below a status label. */
export const statusDetailClass = `${rowDetailClass} sm:pl-4 compact:pl-0`

/**
 * Classes for a row's link, which covers the whole row. Other controls in the row need `relative`.
 */
export const rowLinkClass =
  "outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-live"

export const rowTitleClass = `${rowNameClass} ${rowLinkClass}`

export const menuColumn = <Row,>(menu: (row: Row) => ReactNode): Column<Row> => ({
  key: "menu",
  head: <span className="sr-only">Actions</span>,
  className: "relative w-8 shrink-0 pointer-coarse:w-10 max-sm:-my-2.5",
  cell: menu
})
