import { dayMs } from "../../core/index.ts"

/** How long a delivery is retried after it became due. */
export const patienceMs = dayMs

const longestWaitMs = 30 * 60_000
const longestHoldMs = 5 * 60_000

/** How long a delivery waits after its `attempts`th attempt; `dice` from 0 to 1 spreads them. */
export const waitMs = (attempts: number, dice: number): number =>
  Math.min(longestWaitMs, 2_000 * 2 ** Math.min(attempts - 1, 20)) * (0.8 + 0.4 * dice)

/** How long a whole channel is left alone after so many failures in a row, whatever waits for it. */
export const holdMs = (failures: number): number =>
  Math.min(longestHoldMs, 1_000 * 2 ** Math.min(failures - 1, 20))

/**
 * What happens together is told together: how long what comes after a message is gathered. It begins
 * short, so that the second message of a storm comes soon, and doubles, so that there are few.
 */
export const windowMs = (
  groupSeconds: number,
  before: { readonly windowMs: number; readonly quietForMs: number | null }
): number => {
  const longest = groupSeconds * 1_000
  const isQuiet = before.quietForMs === null || before.quietForMs > 2 * longest
  return isQuiet || before.windowMs === 0 ? longest / 10 : Math.min(longest, before.windowMs * 2)
}
