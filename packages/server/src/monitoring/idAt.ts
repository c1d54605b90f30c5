import { randomUUID } from "node:crypto"
import { firstIdAt } from "../engine/index.ts"

/**
 * Creates a UUID v7 from the time of an event, so that lists ordered by id are in the order of the
 * events, whichever node wrote them first. `ordinal` orders events of the same millisecond.
 */
export const idAt = (ms: number, ordinal: number): string => {
  const inMoment = (ordinal & 0xfff).toString(16).padStart(3, "0")
  return `${firstIdAt(ms).slice(0, 13)}-7${inMoment}${randomUUID().slice(18)}`
}
