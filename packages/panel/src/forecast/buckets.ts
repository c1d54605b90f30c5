import type { Forecast } from "@scheduling/sdk"

/** The runs of a forecast in a period that the chart shows as one bar. */
export interface Bucket {
  readonly start: number
  readonly runs: number
  /** The maximum number of runs in one minute of the bucket. */
  readonly most: number
}

/** Sums the runs of a forecast into buckets whose length divides an hour. */
export const bucketsOf = (
  { from, minutes, to }: Pick<Forecast, "from" | "minutes" | "to">,
  lengthMs: number
): ReadonlyArray<Bucket> => {
  const first = Math.floor(Date.parse(from) / lengthMs)
  const last = Math.ceil(Date.parse(to) / lengthMs)
  const buckets = Array.from({ length: last - first }, (_, index) => ({
    start: (first + index) * lengthMs,
    runs: 0,
    most: 0
  }))
  for (const { at, runs } of minutes) {
    const bucket = buckets[Math.floor(Date.parse(at) / lengthMs) - first]
    if (bucket === undefined) continue
    bucket.runs += runs
    bucket.most = Math.max(bucket.most, runs)
  }
  return buckets
}
