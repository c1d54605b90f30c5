import type {
  ActivityTimeline,
  ExecutionBucket,
  ExecutionsGetStatsQuery,
  TaskUptimeSeries
} from "@scheduling/sdk"

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The executions that were due within the bar's period. */
export interface Bar {
  readonly start: number
  readonly end: number
  readonly succeeded: number
  readonly failed: number
  /** Queued, running, cancelled and skipped executions. */
  readonly other: number
}

export interface Period {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/**
 * Returns the query for the bars. They cover the last two days, or more if the period begins
 * earlier.
 */
export const statsQueryOf = ({ from }: Period, now: number): ExecutionsGetStatsQuery => {
  const age = from === undefined ? 0 : now - Date.parse(from)
  const [bucket, length, count] =
    age < 48 * hourMs
      ? (["hour", hourMs, 48] as const)
      : age < 7 * dayMs
        ? (["hour", hourMs, 168] as const)
        : (["day", dayMs, Math.min(365, Math.max(30, Math.ceil(age / dayMs) + 1))] as const)
  const start = (Math.floor(now / length) - count + 1) * length
  return { bucket, from: new Date(start).toISOString() }
}

export const barsOf = (
  buckets: ReadonlyArray<ExecutionBucket>,
  bucket: "day" | "hour"
): ReadonlyArray<Bar> =>
  buckets.map(({ counts, start }) => {
    const { cancelled, failed, queued, running, skipped, succeeded } = counts
    const at = Date.parse(start)
    return {
      start: at,
      end: at + (bucket === "hour" ? hourMs : dayMs),
      succeeded,
      failed,
      other: queued + running + cancelled + skipped
    }
  })

/**
 * Returns the bars for a timeline that has all tasks in one lane. A bar combines several of its
 * buckets.
 */
export const barsOfTimeline = (
  { bucket_seconds, from, lanes, to }: ActivityTimeline,
  bucketsPerBar: number
): ReadonlyArray<Bar> => {
  const start = Date.parse(from)
  const length = bucket_seconds * 1_000 * bucketsPerBar
  const bars = Array.from({ length: Math.ceil((Date.parse(to) - start) / length) }, (_, index) => ({
    start: start + index * length,
    end: start + (index + 1) * length,
    succeeded: 0,
    failed: 0,
    other: 0
  }))
  const add = (kind: "failed" | "other" | "succeeded", pairs: ReadonlyArray<number>) => {
    for (let index = 0; index < pairs.length; index += 2) {
      const bar = bars[Math.floor((pairs[index] ?? 0) / bucketsPerBar)]
      if (bar !== undefined) bar[kind] += pairs[index + 1] ?? 0
    }
  }
  for (const { failed, other, running, succeeded } of lanes) {
    add("succeeded", succeeded)
    add("failed", failed)
    add("other", other)
    add("other", running)
  }
  return bars
}

/** The approximate number of bars shown for a task, so that each is wide enough on a phone. */
const taskBars = 96

/** Returns the bars for a task's runs. In a long series, a bar combines several buckets. */
export const barsOfSeries = ({ bucket_seconds, buckets }: TaskUptimeSeries): ReadonlyArray<Bar> => {
  const size = Math.ceil(buckets.length / taskBars)
  return Array.from({ length: Math.ceil(buckets.length / size) }, (_, index) => {
    const part = buckets.slice(index * size, (index + 1) * size)
    const sum = (count: (bucket: TaskUptimeSeries["buckets"][number]) => number) =>
      part.reduce((total, bucket) => total + count(bucket), 0)
    const start = Date.parse(part[0]?.start ?? "")
    return {
      start,
      end: start + part.length * bucket_seconds * 1_000,
      succeeded: sum(({ succeeded }) => succeeded),
      failed: sum(({ failed }) => failed),
      other: sum(({ cancelled, skipped }) => cancelled + skipped)
    }
  })
}

export const totalOfBar = ({ failed, other, succeeded }: Bar): number => succeeded + failed + other

/** Returns whether a bar lies in the filter's period. False without such a period. */
export const isInPeriod = ({ end, start }: Bar, { from, to }: Period): boolean =>
  (from !== undefined || to !== undefined) &&
  (from === undefined || end > Date.parse(from)) &&
  (to === undefined || start < Date.parse(to))

/**
 * Returns the filter for the period from one bar to another. A period that includes the present has
 * no end.
 */
export const periodBetween = (
  one: Bar,
  other: Bar,
  now: number
): Required<Record<"from" | "to", string | undefined>> => {
  const end = Math.max(one.end, other.end)
  return {
    from: new Date(Math.min(one.start, other.start)).toISOString(),
    to: end > now ? undefined : new Date(end).toISOString()
  }
}
