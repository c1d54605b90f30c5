/** A partition of the history. Days are counted from 1970. */
export interface HistoryPartition {
  readonly name: string
  /** The first day in the partition, or -Infinity. */
  readonly from: number
  /** The first day after the partition, or Infinity. */
  readonly to: number
}

export interface PartitionPlan {
  /** The first day that has a partition. Earlier ids are in `before`. */
  readonly from: number
  /** The first day that has no partition yet. Ids from then on are in `ahead`. */
  readonly to: number
  readonly missing: ReadonlyArray<number>
  /** Partitions beyond the retention. */
  readonly expired: ReadonlyArray<HistoryPartition>
}

/**
 * The number of days ahead for which partitions are created. If a lock prevents the creation, a
 * later pass creates the partition.
 */
export const partitionDaysAhead = 3

/**
 * Returns how the partitions should be arranged, or undefined if nothing has to change. All
 * partitions together contain every possible id. If no node was up for weeks, the partitions of the
 * days in between are created too.
 */
export const planPartitions = (
  parts: ReadonlyArray<HistoryPartition>,
  today: number,
  retentionDays: number
): PartitionPlan | undefined => {
  const ahead = parts.find(({ to }) => to === Infinity)?.from ?? -Infinity
  const before = parts.find(({ from, to }) => from === -Infinity && to !== Infinity)?.to
  const days = parts.filter(({ from, to }) => from !== -Infinity && to !== Infinity)
  const oldest = today - retentionDays
  const expired = days.filter(({ to }) => to <= oldest)
  const kept = days.filter(({ to }) => to > oldest)
  const first = Math.min(
    today - 1,
    ...kept.map(({ from }) => from),
    ahead === -Infinity ? Infinity : Math.max(ahead, oldest)
  )
  const from = Math.max(first, before ?? -Infinity)
  const to = Math.max(today + partitionDaysAhead + 1, ahead)
  const isCovered = (day: number) => kept.some((part) => part.from <= day && day < part.to)
  const missing = Array.from({ length: to - from }, (_, index) => from + index).filter(
    (day) => !isCovered(day)
  )
  const isRight = missing.length === 0 && expired.length === 0 && before === from && ahead === to
  return isRight ? undefined : { from, to, missing, expired }
}
