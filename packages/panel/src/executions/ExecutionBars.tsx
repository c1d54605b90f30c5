import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from "react"
import { classes } from "../ui/classes.ts"
import { Card } from "../ui/layout/Page.tsx"
import { now } from "../ui/values/clock.ts"
import {
  formatCount,
  formatDay,
  formatShortDateTime,
  formatTimeOfDay
} from "../ui/values/format.ts"
import { LegendKey } from "../ui/values/LegendKey.tsx"
import { type Bar, isInPeriod, type Period, periodBetween, totalOf } from "./histogram.ts"

interface Props {
  readonly bars: ReadonlyArray<Bar>
  readonly period: Period
  readonly onPeriod: (period: Period) => void
}

/**
 * A bar chart of executions over time. To select a period, drag across the bars or hold Shift and
 * press the arrow keys. `note` explains what the bars represent.
 */
export const ExecutionBars = ({ note, ...props }: Props & { readonly note: ReactNode }) => {
  const fullest = Math.max(0, ...props.bars.map(totalOf))
  return (
    <Card className="px-4 pt-3 pb-2">
      <div className="mb-2 flex flex-wrap items-center gap-x-5 gap-y-1 text-xs text-faint">
        <LegendKey className="bg-ok" name="Succeeded" />
        <LegendKey className="bg-bad" name="Failed" />
        <LegendKey className="bg-edge" name="Other" />
        <span className="ml-auto nums">
          {note} (peak: {formatCount(fullest)}). Drag to select a period.
        </span>
      </div>
      <Bars {...props} />
      <Axis bars={props.bars} />
    </Card>
  )
}

/**
 * The times of the first bar, of three bars in between, and now. Narrow charts show only one in
 * between.
 */
const Axis = ({ bars }: Pick<Props, "bars">) => (
  <div className="mt-1.5 flex justify-between text-xs whitespace-nowrap nums text-faint">
    {[0, 1, 2, 3].map((quarter) => {
      const bar = bars[Math.floor((bars.length * quarter) / 4)]
      return (
        <span key={quarter} className={classes(quarter % 2 === 1 && "hidden sm:inline")}>
          {bar !== undefined && formatShortDateTime(bar.start)}
        </span>
      )
    })}
    <span>now</span>
  </div>
)

interface Brush {
  readonly from: number
  readonly to: number
}

const Bars = ({ bars, onPeriod, period }: Props) => {
  const [brush, setBrush] = useState<Brush>()
  const [focused, setFocused] = useState(bars.length - 1)
  const current = Math.min(focused, bars.length - 1)
  const fullest = Math.max(...bars.map(totalOf))

  const choose = ({ from, to }: Brush) => {
    const [one, other] = [bars[from], bars[to]]
    setBrush(undefined)
    if (one === undefined || other === undefined) return
    const chosen = periodBetween(one, other, now())
    const isSame = chosen.from === period.from && chosen.to === period.to
    onPeriod(isSame ? { from: undefined, to: undefined } : chosen)
  }

  const indexAt = ({ clientX, currentTarget }: PointerEvent<HTMLElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect()
    const index = Math.floor(((clientX - left) / width) * bars.length)
    return Math.min(bars.length - 1, Math.max(0, index))
  }

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step !== undefined) {
      const next = Math.min(bars.length - 1, Math.max(0, current + step))
      setBrush(event.shiftKey ? { from: brush?.from ?? current, to: next } : undefined)
      setFocused(next)
      event.currentTarget.querySelectorAll<HTMLElement>("[role=option]")[next]?.focus()
    } else if (event.key === "Enter" || event.key === " ") {
      choose(brush ?? { from: current, to: current })
    } else if (event.key === "Escape" && brush !== undefined) setBrush(undefined)
    else return
    event.preventDefault()
  }

  return (
    <div
      role="listbox"
      aria-label="Executions over time"
      aria-multiselectable
      aria-orientation="horizontal"
      tabIndex={-1}
      className="flex h-20 cursor-crosshair touch-pan-y items-stretch select-none"
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        const at = indexAt(event)
        setBrush({ from: at, to: at })
        setFocused(at)
      }}
      onPointerMove={(event) => brush && setBrush({ from: brush.from, to: indexAt(event) })}
      onPointerUp={() => brush && choose(brush)}
      onPointerCancel={() => setBrush(undefined)}
    >
      {bars.map((bar, index) => {
        const isIn =
          brush === undefined
            ? isInPeriod(bar, period)
            : index >= Math.min(brush.from, brush.to) && index <= Math.max(brush.from, brush.to)
        return (
          <div
            key={bar.start}
            role="option"
            aria-selected={isIn}
            aria-label={titleOf(bar)}
            title={titleOf(bar)}
            tabIndex={index === current ? 0 : -1}
            onFocus={() => setFocused(index)}
            className={classes(
              "flex min-w-0 grow basis-0 flex-col justify-end px-px hover:bg-sunken",
              isIn && "bg-live/15"
            )}
          >
            <Piece className="bg-edge" count={bar.other} of={fullest} />
            <Piece className="bg-bad" count={bar.failed} of={fullest} />
            <Piece className="bg-ok" count={bar.succeeded} of={fullest} />
          </div>
        )
      })}
    </div>
  )
}

/** Even a single failure among thousands of runs has a visible height. */
const Piece = ({
  className,
  count,
  of
}: {
  readonly className: string
  readonly count: number
  readonly of: number
}) =>
  count > 0 && (
    <span
      aria-hidden
      className={classes("block min-h-[3px] shrink", className)}
      style={{ height: `${(count / of) * 100}%` }}
    />
  )

const titleOf = (bar: Bar) => {
  const { end, failed, other, start, succeeded } = bar
  const counts = [
    `${succeeded} succeeded`,
    `${failed} failed`,
    ...(other > 0 ? [`${other} other`] : [])
  ]
  return `${formatDay(start)}, ${formatTimeOfDay(start)} to ${formatTimeOfDay(end)}: ${counts.join(", ")}`
}
