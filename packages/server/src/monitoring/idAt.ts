import { randomUUID } from "node:crypto"
import { firstIdAt } from "../engine/index.ts"

/**
 * Makes a UUID v7 of the time of an event, so that lists are in the order of events, whichever node
 * wrote them first. `ordinal` orders events that are written together.
 */
export const idAt = (ms: number, ordinal: number): string => {
  const inMoment = (ordinal & 0xfff).toString(16).padStart(3, "0")
  return `${firstIdAt(ms).slice(0, 13)}-7${inMoment}${randomUUID().slice(18)}`
}
