import { minGapSeconds } from "@scheduling/schedules/shortestDailyGapSeconds"
import { parseScheduleCached } from "@scheduling/schedules/parseScheduleCached"
import {
  hasSeconds,
  normalizeSchedule,
  tooManyFieldsMessage
} from "@scheduling/schedules/parseSchedule"
import { Schema, SchemaTransformation } from "effect"
import { Timestamp } from "../shared/Timestamp.ts"

const scheduleOf = (description: string, problems: (text: string) => ReadonlyArray<string>) =>
  Schema.String.annotate({ description, examples: ["*/15 * * * *", "0 9 * * MON-FRI"] }).pipe(
    Schema.decodeTo(
      Schema.String.check(Schema.makeFilter((text) => problems(text).map(notValid))).pipe(
        Schema.brand("Schedule")
      ),
      SchemaTransformation.transform({ decode: normalizeSchedule, encode: (text) => text })
    )
  )

const notValid = (problem: string) => `is not valid: ${problem}`

const fiveFields =
  "A cron expression with five fields: minute hour day-of-month month day-of-week. The day of " +
  "month may be `L` (the last day), `L-3`, `LW` (the last weekday) or `15W` (the weekday nearest to " +
  "the 15th), the day of week `FRI#2` (the second Friday) or `FRIL` (the last). `@hourly`, " +
  "`@daily`, `@weekly`, `@monthly` and `@yearly` are accepted too."

/** A cron expression as it was written in the request, with whitespace collapsed to single spaces. */
export const Schedule = scheduleOf(
  `${fiveFields} With \`precision: "second"\`, a sixth field for seconds may come first; then ` +
    `firings must be at least ${minGapSeconds} seconds apart.`,
  (text) => scheduleProblems(text)
)
export type Schedule = typeof Schedule.Type

/** Returns the problem with a schedule that has seconds without `precision: "second"`. */
export const precisionProblem = (
  schedule: Schedule,
  precision: "minute" | "second" | undefined
): string | undefined =>
  precision !== "second" && hasSeconds(schedule)
    ? tooManyFieldsMessage(6, 'a field of seconds needs `precision: "second"`')
    : undefined

/** A schedule without a seconds field. */
export const MinuteSchedule = scheduleOf(fiveFields, (text) =>
  hasSeconds(text)
    ? [tooManyFieldsMessage(6, "seconds and years are not supported")]
    : scheduleProblems(text)
)

export const DstOverlap = Schema.Literals(["first", "both"])
export type DstOverlap = typeof DstOverlap.Type

/**
 * The effect of a clock change on a firing. `moved`: the firing replaces a local time that clocks
 * skipped. `doubled`: its local time has fired once already, before clocks fell back. `dropped`: as
 * `doubled`, but the schedule does not fire again.
 */
export const ClockChange = Schema.Literals(["moved", "doubled", "dropped"])
export type ClockChange = typeof ClockChange.Type

export const PreviewedFiring = Schema.Struct({
  at: Timestamp.annotate({ description: "When the schedule fires." }),
  local: Schema.String.annotate({
    description: "The same time in the schedule's time zone, with its UTC offset.",
    examples: ["2026-10-25T02:30:00+02:00"]
  }),
  clock_change: Schema.NullOr(ClockChange).annotate({
    description: "The effect of a clock change on this firing. Null if not affected."
  }),
  excluded: Schema.Boolean.annotate({
    description: "Whether the day is excluded. The schedule does not fire on excluded days."
  })
})
export type PreviewedFiring = typeof PreviewedFiring.Type

const scheduleProblems = (text: string): ReadonlyArray<string> => {
  const reading = parseScheduleCached(text)
  return reading.ok ? [] : reading.issues.map((issue) => issue.message)
}
