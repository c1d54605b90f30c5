import { Schema } from "effect"

const isoUtc = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/

/** Needed because `Date` takes 30 February for 2 March. */
const isOnTheClock = (text: string): boolean => {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 19))
}

/**
 * A moment as ISO 8601 in UTC. It stays a string on both sides of the wire: times in lists are
 * encoded thousands of times per second, and TypeScript clients read them as any other client does.
 */
export const Timestamp = Schema.String.check(
  Schema.makeFilter((text) => isoUtc.test(text) && isOnTheClock(text), {
    expected: "an ISO 8601 time in UTC, such as 2026-01-31T09:30:00Z",
    toJsonSchema: () => ({ format: "date-time" })
  })
).annotate({ examples: ["2026-01-31T09:30:00.000Z"] })
export type Timestamp = typeof Timestamp.Type
