import { type KeyboardEvent, memo, type PointerEvent, type ReactNode, useId, useState } from "react"
import { classes } from "../classes.ts"
import { formatShortDateTime, formatTimeOfDay } from "../values/format.ts"

const dayMs = 86_400_000

/** A part of the period that a chart covers. */
export interface ChartColumn {
  readonly start: number
  readonly end: number
  /** The column's values in words. */
  readonly values: string
}

interface ColumnRange {
  readonly from: number
  readonly to: number
}

interface Selection {
  readonly isSelected: (index: number) => boolean
  /** Receives the first and the last column in the order in which they were selected. */
  readonly onSelect: (range: ColumnRange) => void
}

/**
 * The axes of a chart, and what reads its values. The pointer and the arrow keys read one column at
 * a time, and Page Up and Page Down move by a day. If columns can be selected, dragging and the same
 * keys with Shift select several.
 */
export const Chart = ({
  axis,
  bottom,
  children,
  className,
  columns,
  label,
  selection,
  top
}: {
  readonly label: string
  readonly columns: ReadonlyArray<ChartColumn>
  /** The texts at both ends of the vertical axis. */
  readonly top: string
  readonly bottom: string
  /** The horizontal axis. */
  readonly axis: ReactNode
  /** The class for the height of the plot. */
  readonly className: string
  /** The plot, as high and wide as its container. */
  readonly children: ReactNode
  readonly selection?: Selection
}) => {
  const [read, setRead] = useState<number>()
  const column = read === undefined ? undefined : columns[read]
  return (
    <div className="relative flex gap-2">
      <div
        aria-hidden
        className={classes(
          "flex shrink-0 flex-col justify-between text-right text-xs nums text-faint",
          className
        )}
      >
        <span className="-mt-2">{top}</span>
        <span className="-mb-2">{bottom}</span>
      </div>
      <div className="min-w-0 grow">
        <div className={classes("relative border-b border-line", className)}>
          <div aria-hidden className="absolute inset-0">
            {children}
          </div>
          {columns.length > 0 && (
            <Columns
              columns={columns}
              label={`${label}, at most ${top}`}
              onRead={setRead}
              selection={selection}
            />
          )}
          {read !== undefined && column !== undefined && (
            <ColumnValues column={column} at={(read + 0.5) / columns.length} />
          )}
        </div>
        <div aria-hidden className="mt-1.5 text-xs whitespace-nowrap nums text-faint">
          {axis}
        </div>
      </div>
    </div>
  )
}

/**
 * The columns over a plot. Memoized, so that reading a column does not render all of them again.
 */
const Columns = memo(function Columns({
  columns,
  label,
  onRead,
  selection
}: {
  readonly columns: ReadonlyArray<ChartColumn>
  readonly label: string
  readonly onRead: (index: number | undefined) => void
  readonly selection: Selection | undefined
}) {
  const [brush, setBrush] = useState<ColumnRange>()
  const [focused, setFocused] = useState(columns.length - 1)
  const last = columns.length - 1
  const current = Math.min(focused, last)
  const id = useId()
  const [first] = columns
  const perDay =
    first === undefined ? 1 : Math.max(1, Math.round(dayMs / (first.end - first.start)))

  const select = (range: ColumnRange) => {
    setBrush(undefined)
    selection?.onSelect(range)
  }

  const isSelected = (index: number): boolean =>
    selection === undefined
      ? index === current
      : brush === undefined
        ? selection.isSelected(index)
        : index >= Math.min(brush.from, brush.to) && index <= Math.max(brush.from, brush.to)

  const indexAt = ({ clientX, currentTarget }: PointerEvent<HTMLElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.min(last, Math.max(0, Math.floor(((clientX - left) / width) * columns.length)))
  }

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const target = {
      ArrowLeft: current - 1,
      ArrowRight: current + 1,
      PageUp: current - perDay,
      PageDown: current + perDay,
      Home: 0,
      End: last
    }[event.key]
    if (target !== undefined) {
      const next = Math.min(last, Math.max(0, target))
      setBrush(event.shiftKey ? { from: brush?.from ?? current, to: next } : undefined)
      event.currentTarget.querySelectorAll<HTMLElement>("[role=option]")[next]?.focus()
    } else if (selection !== undefined && (event.key === "Enter" || event.key === " ")) {
      select(brush ?? { from: current, to: current })
    } else if (event.key === "Escape") {
      setBrush(undefined)
      onRead(undefined)
    } else return
    event.preventDefault()
  }

  return (
    <div
      role="listbox"
      aria-label={label}
      aria-describedby={id}
      aria-multiselectable={selection !== undefined}
      aria-orientation="horizontal"
      tabIndex={-1}
      className={classes(
        "absolute inset-0 flex touch-pan-y items-stretch select-none",
        selection !== undefined && "cursor-crosshair"
      )}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        if (selection === undefined) return
        event.currentTarget.setPointerCapture(event.pointerId)
        const at = indexAt(event)
        setBrush({ from: at, to: at })
      }}
      onPointerMove={(event) => {
        const at = indexAt(event)
        onRead(at)
        if (brush !== undefined) setBrush({ from: brush.from, to: at })
      }}
      onPointerUp={() => brush !== undefined && select(brush)}
      onPointerCancel={() => setBrush(undefined)}
      onPointerLeave={() => onRead(undefined)}
      onBlur={() => onRead(undefined)}
    >
      <span id={id} hidden>
        The arrow keys read the values one by one.{" "}
        {perDay > 1 && perDay < columns.length && "Page Up and Page Down move by a day. "}
        Home and End move to the ends.
        {selection !== undefined && " With Shift, they select a period. Enter applies it."}
      </span>
      {columns.map((column, index) => (
        <div
          key={column.start}
          role="option"
          aria-selected={isSelected(index)}
          aria-label={`${periodOf(column)}: ${column.values}`}
          tabIndex={index === current ? 0 : -1}
          onFocus={() => {
            setFocused(index)
            onRead(index)
          }}
          className={classes(
            "min-w-0 grow basis-0 hover:bg-live/10",
            selection !== undefined && isSelected(index) && "bg-live/15"
          )}
        />
      ))}
    </div>
  )
})

/** Shows the values of a column above it, within the width of the chart. */
const ColumnValues = ({ at, column }: { readonly column: ChartColumn; readonly at: number }) => (
  <p
    aria-hidden
    className="pointer-events-none absolute bottom-full z-20 mb-1 w-56 max-w-full rounded-lg border border-edge bg-raised px-2 py-1 text-center text-xs nums shadow-float"
    style={{ left: `clamp(0px, ${at * 100}% - 7rem, max(0px, 100% - 14rem))` }}
  >
    <span className="block text-faint">{periodOf(column)}</span>
    {column.values}
  </p>
)

const periodOf = ({ end, start }: ChartColumn): string =>
  `${formatShortDateTime(start)} to ${(end - start < dayMs ? formatTimeOfDay : formatShortDateTime)(end)}`

/**
 * The start of a period, the times of three columns in between, and now. Narrow charts show only
 * one in between. Small charts show none, and no dates.
 */
export const TimeAxis = ({
  columns,
  isSmall = false
}: {
  readonly columns: ReadonlyArray<ChartColumn>
  readonly isSmall?: boolean
}) => (
  <div className="flex min-h-4 justify-between">
    {(isSmall ? [0] : [0, 1, 2, 3]).map((quarter) => {
      const column = columns[Math.floor((columns.length * quarter) / 4)]
      return (
        <span key={quarter} className={classes(quarter % 2 === 1 && "hidden sm:inline")}>
          {column && (isSmall ? formatTimeOfDay : formatShortDateTime)(column.start)}
        </span>
      )
    })}
    {columns.length > 0 && <span>now</span>}
  </div>
)
