const firstMs = 250
const longestMs = 5_000

/**
 * The wait before a retry: longer each time, up to five seconds. A random part of it, from half to
 * all, keeps a thousand agents from retrying at the same moment. `random` is from 0 to 1.
 */
export const backoffMs = (failures: number, random: number): number => {
  const fullMs = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 10))
  return fullMs * (0.5 + random / 2)
}
