export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

export const percentile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/**
 * Formats a number with about three significant digits, without rounding digits before the decimal
 * point.
 */
export const formatNumber = (value: number): string =>
  Number.isFinite(value)
    ? value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })
    : "–"

/** Formats the values as their median and range. */
export const formatSpread = (values: ReadonlyArray<number>): string =>
  values.length === 1
    ? formatNumber(median(values))
    : `${formatNumber(median(values))} (${formatNumber(Math.min(...values))} to ${formatNumber(Math.max(...values))})`

/**
 * Returns the ratio of `a` to `b` in each round. Values from the same round are measured under
 * similar background load.
 */
export const ratios = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): ReadonlyArray<number> =>
  a.map((value, round) => value / (b[round] ?? Number.NaN))
