import { Schema } from "effect"
import { normalizedString } from "./normalizedString.ts"

const isoUtc = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/

/** Rejects dates that do not exist. `Date` reads 30 February as 2 March. */
const isExistingTime = (text: string): boolean => {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 19))
}

const isTimestamp = (text: string): boolean => isoUtc.test(text) && isExistingTime(text)

const timestampSchema = (isRight: (text: string) => boolean, kind: string) =>
  Schema.String.check(
    Schema.makeFilter(isRight, {
      expected: `an ISO 8601 time ${kind}, such as 2026-01-31T09:30:00Z`,
      toJsonSchema: () => ({ format: "date-time" })
    })
  )

const exampleTime = "2026-01-31T09:30:00.000Z"

/**
 * A timestamp in ISO 8601 and UTC. It stays a string on both sides of the wire: thousands of
 * timestamps are encoded per second, and TypeScript clients receive the same value as any other
 * client.
 */
export const Timestamp = timestampSchema(isTimestamp, "in UTC").annotate({
  examples: [exampleTime]
})
export type Timestamp = typeof Timestamp.Type

/** Timestamps that nearly every record has. */
export const createdAt = Timestamp.annotate({ description: "When it was created." })
export const updatedAt = Timestamp.annotate({ description: "When it was last changed." })

/** Timestamps of a run or an attempt. */
export const startedAt = Schema.NullOr(Timestamp).annotate({
  description: "When it started. Null until then."
})
export const finishedAt = Schema.NullOr(Timestamp).annotate({
  description: "When it finished. Null until then."
})

const offset = /[+-](?:[01]\d|2[0-3]):[0-5]\d$/

/**
 * Converts a timestamp to UTC: `10:30+01:00` becomes 09:30. Any other text is returned unchanged.
 */
const inUtc = (text: string): string => {
  const withoutOffset = text.replace(offset, "Z")
  if (withoutOffset === text || !isTimestamp(withoutOffset)) return text
  // An offset has whole minutes, so the fraction of the second is kept as given.
  return new Date(text).toISOString().replace(/\.\d{3}Z$/, withoutOffset.slice(19))
}

export const isTimeWithOffset = (text: string): boolean => isTimestamp(inUtc(text))

const TimeWithOffset = timestampSchema(isTimeWithOffset, "with Z or an offset")

/** A timestamp in a request. The service stores it in UTC. */
export const timestampInput = (description: string) =>
  normalizedString(TimeWithOffset, inUtc, { description, examples: [exampleTime] })
