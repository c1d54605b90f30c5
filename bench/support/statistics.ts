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

/** As people read it: three digits that say something, and no more. */
export const figure = (value: number): string =>
  Number.isFinite(value)
    ? value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })
    : "–"

/** The median, and between what it lay. */
export const spread = (values: ReadonlyArray<number>): string =>
  values.length === 1
    ? figure(median(values))
    : `${figure(median(values))} (${figure(Math.min(...values))} to ${figure(Math.max(...values))})`

/** How `a` stands to `b`, round by round: neighbours in time share what the machine had to do. */
export const ratios = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): ReadonlyArray<number> =>
  a.map((value, round) => value / (b[round] ?? Number.NaN))
