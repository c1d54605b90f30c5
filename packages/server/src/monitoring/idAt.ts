import { randomUUID } from "node:crypto"
import { firstIdAt } from "../engine/index.ts"

/**
 * A UUID v7 of the moment, so that lists are in the order of what happened, whichever node wrote it
 * first. Of those that are written together, later ones sort after earlier ones.
 */
export const idAt = (ms: number, ordinal: number): string => {
  const inMoment = (ordinal & 0xfff).toString(16).padStart(3, "0")
  return `${firstIdAt(ms).slice(0, 13)}-7${inMoment}${randomUUID().slice(18)}`
}
