import type { ReactNode } from "react"
import { Chart, TimeAxis } from "../ui/charts/Chart.tsx"
import { classes } from "../ui/classes.ts"
import { Card } from "../ui/layout/Page.tsx"
import { now } from "../ui/values/clock.ts"
import { formatCount } from "../ui/values/format.ts"
import { LegendKey } from "../ui/values/LegendKey.tsx"
import { type Bar, isInPeriod, type Period, periodBetween, totalOfBar } from "./histogram.ts"

/**
 * A bar chart of executions over time. To select a period, drag across the bars or hold Shift and
 * press the arrow keys. `note` explains what the bars represent.
 */
export const ExecutionBars = ({
  bars,
  note,
  onPeriod,
  period
}: {
  readonly bars: ReadonlyArray<Bar>
  readonly period: Period
  readonly onPeriod: (period: Period) => void
  readonly note: ReactNode
}) => {
  const fullest = Math.max(1, ...bars.map(totalOfBar))
  const columns = bars.map((bar) => ({ start: bar.start, end: bar.end, values: valuesOf(bar) }))
  return (
    <Card className="px-4 pt-3 pb-2">
      <div className="mb-4 flex flex-wrap items-center gap-x-5 gap-y-1 text-xs text-faint">
        <LegendKey className="bg-ok" name="Succeeded" />
        <LegendKey className="bg-bad" name="Failed" />
        <LegendKey className="bg-edge" name="Cancelled, skipped or running" />
        <span className="ml-auto">{note}. Drag to select a period.</span>
      </div>
      <Chart
        label="Executions over time"
        columns={columns}
        top={formatCount(fullest)}
        bottom="0"
        axis={<TimeAxis columns={columns} />}
        className="h-20"
        selection={{
          isSelected: (index) => {
            const bar = bars[index]
            return bar !== undefined && isInPeriod(bar, period)
          },
          onSelect: ({ from, to }) => {
            const [one, other] = [bars[from], bars[to]]
            if (one === undefined || other === undefined) return
            const chosen = periodBetween(one, other, now())
            const isSame = chosen.from === period.from && chosen.to === period.to
            onPeriod(isSame ? { from: undefined, to: undefined } : chosen)
          }
        }}
      >
        <div className="flex h-full items-stretch">
          {bars.map((bar) => (
            <div key={bar.start} className="flex min-w-0 grow basis-0 flex-col justify-end px-px">
              <Piece className="bg-edge" count={bar.other} of={fullest} />
              <Piece className="bg-bad" count={bar.failed} of={fullest} />
              <Piece className="bg-ok" count={bar.succeeded} of={fullest} />
            </div>
          ))}
        </div>
      </Chart>
    </Card>
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
      className={classes("block min-h-[3px] shrink", className)}
      style={{ height: `${(count / of) * 100}%` }}
    />
  )

const valuesOf = ({ failed, other, succeeded }: Bar) =>
  [
    `${succeeded} succeeded`,
    `${failed} failed`,
    ...(other > 0 ? [`${other} cancelled, skipped or running`] : [])
  ].join(", ")
