import { hashOf } from "../shared/hashOf.ts"

/** The maximum of `jitter_seconds`. */
export const maxJitterSeconds = 3_600

/**
 * Returns how long after its slot a task runs. The delay is the same on all nodes, differs between
 * firings, and is evenly distributed between 0 and the jitter.
 */
export const jitterMs = (taskId: string, slotMs: number, jitterSeconds: number): number =>
  Math.floor((hashOf(`${taskId}${slotMs}`) / 2 ** 32) * jitterSeconds * 1_000)
