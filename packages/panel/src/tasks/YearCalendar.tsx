import type { TaskUptimeSeries } from "@scheduling/sdk"
import { Card } from "../ui/layout/Page.tsx"
import { formatCount, formatDay } from "../ui/values/format.ts"
import { LegendKey } from "../ui/values/LegendKey.tsx"

const pitch = 12
const cell = 10
const dayMs = 86_400_000

/**
 * A year's calendar: a column for each week, with Monday on top, and a square for each day in UTC.
 */
export const YearCalendar = ({ buckets }: Pick<TaskUptimeSeries, "buckets">) => {
  const first = Date.parse(buckets[0]?.start ?? "")
  // The epoch began on a Thursday, three days after a Monday.
  const offset = (Math.floor(first / dayMs) + 3) % 7
  const weeks = Math.ceil((buckets.length + offset) / 7)
  const failing = buckets.filter(({ failed }) => failed > 0).length
  return (
    <Card className="p-5">
      <div className="mb-3 flex flex-wrap gap-x-5 gap-y-1 text-xs text-faint">
        <LegendKey className="bg-ok" name="All runs succeeded" />
        <LegendKey className="bg-bad/50" name="Some failed" />
        <LegendKey className="bg-bad" name="Half or more failed" />
        <LegendKey className="bg-edge" name="No run" />
      </div>
      <div
        className="overflow-x-auto"
        tabIndex={0}
        role="region"
        aria-label="Calendar of the last year"
      >
        <svg
          role="img"
          aria-label={`Runs failed on ${failing} of the last ${buckets.length} days`}
          width={weeks * pitch}
          height={7 * pitch}
          className="block"
        >
          {buckets.map((bucket, index) => (
            <rect
              key={bucket.start}
              x={Math.floor((index + offset) / 7) * pitch}
              y={((index + offset) % 7) * pitch}
              width={cell}
              height={cell}
              rx={2}
              className={colourOf(bucket)}
            >
              <title>
                {`${formatDay(bucket.start, "UTC")}: ${formatCount(bucket.succeeded)} succeeded, ${formatCount(bucket.failed)} failed`}
              </title>
            </rect>
          ))}
        </svg>
      </div>
    </Card>
  )
}

const colourOf = ({ failed, succeeded }: TaskUptimeSeries["buckets"][number]) => {
  if (failed + succeeded === 0) return "fill-edge"
  if (failed === 0) return "fill-ok"
  return failed * 2 < failed + succeeded ? "fill-bad/50" : "fill-bad"
}
