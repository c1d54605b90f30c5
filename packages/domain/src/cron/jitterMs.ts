import { hashOf } from "../shared/hashOf.ts"

/**
 * How much later than its slot a task is due: the same on every node, spread evenly over the time
 * that it may take, and another for each slot.
 */
export const jitterMs = (taskId: string, slotMs: number, jitterSeconds: number): number =>
  Math.floor((hashOf(`${taskId}${slotMs}`) / 2 ** 32) * jitterSeconds * 1_000)
