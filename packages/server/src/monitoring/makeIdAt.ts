import { randomUUID } from "node:crypto"
import { firstIdAt } from "../engine/index.ts"

/**
 * Creates a UUID v7 from an event's time, so that a list ordered by id is in the order of the
 * events, regardless of which node wrote them first. `ordinal` orders events of the same
 * millisecond.
 */
export const makeIdAt = (ms: number, ordinal: number): string => {
  const inMoment = (ordinal & 0xfff).toString(16).padStart(3, "0")
  return `${firstIdAt(ms).slice(0, 13)}-7${inMoment}${randomUUID().slice(18)}`
}
