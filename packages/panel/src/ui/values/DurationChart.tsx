import { Card } from "../layout/Page.tsx"
import { formatDuration, formatShortDateTime } from "./format.ts"

export interface DurationBucket {
  readonly start: string
  /** Null if nothing was measured. */
  readonly ms: { readonly p50: number; readonly p95: number } | null
  /** Describes a problem in this bucket. Undefined if there was none. */
  readonly problem: string | undefined
}

const width = 720
const height = 120

/** A chart of the median and the 95th percentile, with problems in the background. */
export const DurationChart = ({
  buckets,
  name
}: {
  readonly name: string
  readonly buckets: ReadonlyArray<DurationBucket>
}) => {
  const top = Math.max(...buckets.map(({ ms }) => ms?.p95 ?? 0), 1)
  const step = width / buckets.length
  const yOf = (ms: number) => height - (ms / top) * (height - 8)
  const line = (percentile: "p50" | "p95") =>
    buckets
      .map(({ ms }, index) =>
        ms === null
          ? ""
          : `${index === 0 || buckets[index - 1]?.ms == null ? "M" : "L"}${(index * step).toFixed(1)},${yOf(ms[percentile]).toFixed(1)}h${step.toFixed(1)}`
      )
      .join("")
  const first = buckets[0]?.start
  return (
    <Card className="p-5">
      <p className="mb-3 flex flex-wrap items-baseline justify-between gap-x-4 text-sm text-faint">
        <span>
          {name}: <span className="text-live">median</span> and 95th percentile
        </span>
        <span className="nums">peak: {formatDuration(top)}</span>
      </p>
      <svg
        role="img"
        aria-label={`${name} over time, peak: ${formatDuration(top)}`}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        className="block h-32 w-full"
      >
        {buckets.map(
          ({ problem, start }, index) =>
            problem !== undefined && (
              <rect
                key={start}
                x={index * step}
                width={step}
                height={height}
                className="fill-bad/25"
              >
                <title>{problem}</title>
              </rect>
            )
        )}
        <path
          d={line("p95")}
          fill="none"
          vectorEffect="non-scaling-stroke"
          className="stroke-edge"
          strokeWidth={1.5}
        />
        <path
          d={line("p50")}
          fill="none"
          vectorEffect="non-scaling-stroke"
          className="stroke-live"
          strokeWidth={2}
        />
      </svg>
      <p className="mt-2 flex justify-between text-xs text-faint">
        <span>{first === undefined ? "" : formatShortDateTime(Date.parse(first))}</span>
        <span>now</span>
      </p>
    </Card>
  )
}
