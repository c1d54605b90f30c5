import { hashOf } from "../shared/hashOf.ts"

/**
 * Returns the delay of a task after its slot. Deterministic, so all nodes agree; evenly distributed
 * over the jitter; and different for each slot.
 */
export const jitterMs = (taskId: string, slotMs: number, jitterSeconds: number): number =>
  Math.floor((hashOf(`${taskId}${slotMs}`) / 2 ** 32) * jitterSeconds * 1_000)
