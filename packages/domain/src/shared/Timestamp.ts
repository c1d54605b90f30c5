import { Schema } from "effect"
import { keptAs } from "./keptAs.ts"

const isoUtc = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/

/** Refuses dates that do not exist. `Date` takes 30 February for 2 March. */
const isOnTheClock = (text: string): boolean => {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 19))
}

const isTimestamp = (text: string): boolean => isoUtc.test(text) && isOnTheClock(text)

const timeThat = (isRight: (text: string) => boolean, kind: string) =>
  Schema.String.check(
    Schema.makeFilter(isRight, {
      expected: `an ISO 8601 time ${kind}, such as 2026-01-31T09:30:00Z`,
      toJsonSchema: () => ({ format: "date-time" })
    })
  )

const exampleTime = "2026-01-31T09:30:00.000Z"

/**
 * A moment as ISO 8601 in UTC. It stays a string on both sides of the wire: times in lists are
 * encoded thousands of times per second, and TypeScript clients read them as any other client does.
 */
export const Timestamp = timeThat(isTimestamp, "in UTC").annotate({ examples: [exampleTime] })
export type Timestamp = typeof Timestamp.Type

/** The times that nearly every record has. */
export const createdAt = Timestamp.annotate({ description: "When it was created." })
export const updatedAt = Timestamp.annotate({ description: "When it was last changed." })

/** The times of a run or an attempt. */
export const startedAt = Schema.NullOr(Timestamp).annotate({
  description: "When it started. Null until then."
})
export const finishedAt = Schema.NullOr(Timestamp).annotate({
  description: "When it finished. Null until then."
})

const offset = /[+-](?:[01]\d|2[0-3]):[0-5]\d$/

/** The time in UTC: `10:30+01:00` is 09:30. Text that is not a time stays as it is. */
const inUtc = (text: string): string => {
  const onTheClock = text.replace(offset, "Z")
  if (onTheClock === text || !isTimestamp(onTheClock)) return text
  // An offset has whole minutes, so the fraction of a second is what it was.
  return new Date(text).toISOString().replace(/\.\d{3}Z$/, onTheClock.slice(19))
}

const TimeWithOffset = timeThat((text) => isTimestamp(inUtc(text)), "with Z or an offset")

/** A moment as clients give it. The service keeps it in UTC. */
export const timestampInput = (description: string) =>
  keptAs(TimeWithOffset, inUtc, { description, examples: [exampleTime] })
