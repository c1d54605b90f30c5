import type {
  ExecutionFigures,
  ExecutionStats,
  StatsRange
} from "@scheduling/domain/executions/ExecutionStats"
import { timestampOf } from "../../store/index.ts"
import type { StatsRow } from "./ExecutionStatsRepo.ts"
import { StatisticsHistogram } from "./StatisticsHistogram.ts"

/** Sums the rows of each time bucket, and of all buckets. Buckets without rows are included. */
export const toStats = (
  { bucket, from, to }: StatsRange,
  rows: ReadonlyArray<StatsRow>
): ExecutionStats => {
  const length = bucketMs[bucket]
  const first = Math.floor(from.getTime() / length)
  const totals = new Figures()
  const buckets = Array.from(
    { length: Math.ceil(to.getTime() / length) - first },
    () => new Figures()
  )
  for (const row of rows) {
    totals.add(row)
    buckets[Math.floor(row.start.getTime() / length) - first]?.add(row)
  }
  return {
    from: timestampOf(from),
    to: timestampOf(to),
    bucket,
    totals: totals.toFigures(),
    buckets: buckets.map((figures, index) => ({
      start: timestampOf(new Date((first + index) * length)),
      ...figures.toFigures()
    }))
  }
}

const bucketMs = { hour: 3_600_000, day: 86_400_000 } as const

class Figures {
  readonly #counts = { queued: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }
  readonly #durations = new StatisticsHistogram()
  readonly #latenesses = new StatisticsHistogram()

  add(row: StatsRow): void {
    this.#counts.queued += row.queued
    this.#counts.running += row.running
    this.#counts.succeeded += row.succeeded
    this.#counts.failed += row.failed
    this.#counts.cancelled += row.cancelled
    this.#counts.skipped += row.skipped
    this.#durations.add(row.durations, row.duration_counts)
    this.#latenesses.add(row.latenesses, row.lateness_counts)
  }

  toFigures(): ExecutionFigures {
    const { failed, succeeded } = this.#counts
    const answered = succeeded + failed
    return {
      counts: this.#counts,
      success_rate: answered === 0 ? null : succeeded / answered,
      duration_ms: this.#durations.percentiles,
      lateness_ms: this.#latenesses.percentiles
    }
  }
}
