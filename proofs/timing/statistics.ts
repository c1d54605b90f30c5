/** The difference between two kinds of requests, as seen by a client that can only measure time. */
export interface Difference {
  readonly medians: readonly [number, number]
  /** The 99 % confidence interval for the difference between the medians. */
  readonly interval: readonly [number, number]
  /**
   * The probability that a request of the first kind takes longer than a request of the second
   * kind. It is one half if there is no difference.
   */
  readonly odds: number
  /** The p-value of the Mann–Whitney U test. */
  readonly chance: number
  /**
   * The number of requests of each kind that an attacker needs for 99 % confidence with a power of
   * 90 %, by Noether's formula.
   */
  readonly requestsToTell: number
}

export const differenceOf = (
  first: ReadonlyArray<number>,
  second: ReadonlyArray<number>
): Difference => {
  const { odds, z } = mannWhitney(first, second)
  return {
    medians: [median(first), median(second)],
    interval: bootstrap(first, second),
    odds,
    chance: 2 * (1 - normal(Math.abs(z))),
    requestsToTell: Math.ceil((2.576 + 1.282) ** 2 / (6 * (odds - 0.5) ** 2))
  }
}

export const median = (values: ArrayLike<number>): number => {
  const sorted = Float64Array.from(values).toSorted()
  const middle = sorted.length >> 1
  const [upper = NaN, lower = NaN] = [sorted[middle], sorted[middle - 1]]
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2
}

const resamples = 1_000

const bootstrap = (
  first: ReadonlyArray<number>,
  second: ReadonlyArray<number>
): readonly [number, number] => {
  const differences = Float64Array.from(
    { length: resamples },
    () => median(resampled(first)) - median(resampled(second))
  ).toSorted()
  const at = (share: number) => differences[Math.round(share * (resamples - 1))] ?? NaN
  return [at(0.005), at(0.995)]
}

const resampled = (values: ReadonlyArray<number>): Float64Array =>
  Float64Array.from(values, () => values[Math.floor(Math.random() * values.length)] ?? NaN)

const mannWhitney = (first: ReadonlyArray<number>, second: ReadonlyArray<number>) => {
  const all = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false }))
  ].toSorted((left, right) => left.value - right.value)
  // Times in nanoseconds are almost never equal, so ties need no special handling.
  const ranks = all.reduce((sum, { isFirst }, index) => (isFirst ? sum + index + 1 : sum), 0)
  const [n, m] = [first.length, second.length]
  const u = ranks - (n * (n + 1)) / 2
  return { odds: u / (n * m), z: (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12) }
}

/**
 * The cumulative distribution function of the normal distribution, to 1e-7: Abramowitz and Stegun
 * 26.2.17.
 */
const normal = (z: number): number => {
  const t = 1 / (1 + 0.2316419 * z)
  const tail =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * tail
}
