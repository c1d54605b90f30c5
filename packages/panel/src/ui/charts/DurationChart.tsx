import { Card } from "../layout/Page.tsx"
import { formatDuration } from "../values/format.ts"
import { LegendKey } from "../values/LegendKey.tsx"
import { LineChart } from "./LineChart.tsx"

export interface DurationBucket {
  readonly start: string
  /** Null if nothing was measured. */
  readonly ms: { readonly p50: number; readonly p95: number } | null
  /** Describes a problem in this bucket. Undefined if there was none. */
  readonly problem: string | undefined
}

/** A chart of the median and the 95th percentile, with problems in the background. */
export const DurationChart = ({
  buckets,
  bucketSeconds,
  name,
  note,
  problemName
}: {
  readonly name: string
  /** Says why the chart is shorter than its period. */
  readonly note: string | undefined
  /** The name of a problem in the legend. */
  readonly problemName: string
  readonly buckets: ReadonlyArray<DurationBucket>
  readonly bucketSeconds: number
}) => (
  <Card className="px-4 pt-3 pb-2">
    <p className="mb-4 flex flex-wrap gap-x-5 gap-y-1 text-xs text-faint">
      <LegendKey className="bg-ink" name={`${name}, median`} />
      <LegendKey className="bg-faint/60" name={`${name}, 95th percentile`} />
      {buckets.some(({ problem }) => problem !== undefined) && (
        <LegendKey className="bg-bad/25" name={problemName} />
      )}
      {note !== undefined && <span className="ml-auto">{note}</span>}
    </p>
    <LineChart
      label={`${name} over time`}
      columns={buckets.map(({ ms, problem, start }) => ({
        start: Date.parse(start),
        end: Date.parse(start) + bucketSeconds * 1_000,
        main: ms?.p50 ?? null,
        other: ms?.p95 ?? null,
        hasProblem: problem !== undefined,
        values: [
          ms === null
            ? "nothing measured"
            : `median ${formatDuration(ms.p50)}, 95th percentile ${formatDuration(ms.p95)}`,
          ...(problem === undefined ? [] : [problem])
        ].join(", ")
      }))}
      top={Math.max(...buckets.map(({ ms }) => ms?.p95 ?? 0), 1)}
      text={formatDuration}
      className="h-32"
    />
  </Card>
)
