/** A partition of the history. Days are counted from 1970. */
export interface Part {
  readonly name: string
  /** The first day that it holds, or -Infinity. */
  readonly from: number
  /** The first day that it no longer holds, or Infinity. */
  readonly to: number
}

export interface DaysPlan {
  /** The first day that has a partition. `before` holds all ids of earlier ones. */
  readonly from: number
  /** The first day that has none yet. `ahead` holds all ids from then on. */
  readonly to: number
  readonly missing: ReadonlyArray<number>
  /** Older than the retention. */
  readonly expired: ReadonlyArray<Part>
}

/** Days made ahead. If a lock is in the way of one, a later round makes it. */
export const daysAhead = 3

/**
 * How the parts should be, or undefined where they are so. Together they hold every id there may be:
 * after weeks without a node, the days in between are made too.
 */
export const planDays = (
  parts: ReadonlyArray<Part>,
  today: number,
  retentionDays: number
): DaysPlan | undefined => {
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
  const to = Math.max(today + daysAhead + 1, ahead)
  const isMade = (day: number) => kept.some((part) => part.from <= day && day < part.to)
  const missing = Array.from({ length: to - from }, (_, index) => from + index).filter(
    (day) => !isMade(day)
  )
  const isRight = missing.length === 0 && expired.length === 0 && before === from && ahead === to
  return isRight ? undefined : { from, to, missing, expired }
}
