import { now } from "../values/clock.ts"

/**
 * Returns a key made of the name and the current time, so that no other record has the same key.
 */
export const uniqueKeyFrom = (name: string, fallback: string) =>
  `${
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replace(/^-+/, "")
      .slice(0, 40) || fallback
  }-${now().toString(36)}`
