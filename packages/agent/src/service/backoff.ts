const firstMs = 250
const longestMs = 5_000

/**
 * Returns the delay before a retry. The delay doubles with each failure, up to five seconds. Half
 * of it is random, so that a thousand agents do not retry at the same time. `random` is a number
 * from 0 to 1.
 */
export const backoffMs = (failures: number, random: number): number => {
  const fullMs = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 10))
  return fullMs * (0.5 + random / 2)
}
