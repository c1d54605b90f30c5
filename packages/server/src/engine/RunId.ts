import { randomUUID } from "node:crypto"
import { hourMs } from "../core/index.ts"

/**
 * Creates a UUID v7 with the time at which the run is due, so that executions sort by it. The time
 * is never more than an hour in the past, so that even a run for a slot that was missed a month ago
 * belongs to a day that has a partition.
 */
export const makeRunId = (dueMs: number, nowMs: number): string =>
  // UUID v4 has its version and variant bits in the same positions. Only the first 48 bits and the
  // 7 differ.
  `${timePrefix(Math.max(dueMs, nowMs - hourMs))}-7${randomUUID().slice(15)}`

/** Returns the smallest id for a time. The range of each partition begins with such an id. */
export const firstIdAt = (ms: number): string => `${timePrefix(ms)}-0000-0000-000000000000`

export const timeOfId = (id: string): number =>
  Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

const timePrefix = (ms: number): string => {
  const hex = Math.floor(ms).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
