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

/** Rounds a value to three significant digits. */
export const figure = (value: number): string =>
  Number.isFinite(value)
    ? value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })
    : "–"

/** Formats the median with the range of the values. */
export const spread = (values: ReadonlyArray<number>): string =>
  values.length === 1
    ? figure(median(values))
    : `${figure(median(values))} (${figure(Math.min(...values))} to ${figure(Math.max(...values))})`

/**
 * Returns the ratios of `a` to `b` for each round, because neighbouring rounds have the same
 * background load.
 */
export const ratios = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): ReadonlyArray<number> =>
  a.map((value, round) => value / (b[round] ?? Number.NaN))
