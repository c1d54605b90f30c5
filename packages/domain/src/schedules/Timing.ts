import { minGapSeconds } from "@scheduling/schedules/shortestDailyGapSeconds"
import { longestIntervalSeconds, parseIntervalSeconds } from "@scheduling/schedules/Interval"
import { Schema } from "effect"
import { optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { Timestamp, timestampInput } from "../shared/Timestamp.ts"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { Schedule } from "./Schedule.ts"

const everyText =
  "An interval of elapsed time, instead of `schedule`, such as `45s`, `90m`, `1h30m` or `2d`, from " +
  `${minGapSeconds}s to ${longestIntervalSeconds / 86_400}d. The task fires at \`anchor\` plus each ` +
  "multiple of the interval. Restarts, late runs and clock changes do not move these times."

const anchorText =
  "A time at which the task fires, from which all others are counted. It may be in the past or in the " +
  "future. To prevent firings before a given time, use `starts_at`."

/** An interval such as `90m`. */
export const Every = Schema.String.check(
  Schema.makeFilter(
    (text) => {
      const read = parseIntervalSeconds(text)
      return typeof read === "number" ? undefined : read
    },
    {
      expected: "a duration such as 90m",
      toJsonSchema: () => ({ pattern: "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$" })
    }
  )
).annotate({ description: everyText, examples: ["90m"] })

const anchorInput = timestampInput(anchorText)

/**
 * Creates a request's timing fields. `ifBothAbsent` is the documentation's sentence about a request
 * without a schedule and without an interval.
 */
const inputOf = (ifBothAbsent: string) => ({
  schedule: optionalWithDefault(
    "None",
    Schema.NullOr(Schedule).annotate({
      description: `A cron expression. ${ifBothAbsent} Setting it in a PATCH removes \`every\` and \`anchor\`.`
    })
  ),
  every: optionalWithDefault(
    "None",
    Schema.NullOr(Every).annotate({
      description: `${everyText} Setting it in a PATCH removes \`schedule\`.`,
      examples: ["90m"]
    })
  ),
  anchor: optionalWithDefault(
    "1970-01-01T00:00:00Z",
    Schema.NullOr(anchorInput).annotate({
      description: `${anchorText} Only together with \`every\`.`
    })
  )
})

/** When cron tasks and chains fire: according to a cron expression or after a fixed interval. */
export const timing = {
  cronInput: inputOf("A cron task requires either `schedule` or `every`."),
  chainInput: inputOf("A chain without `schedule` and `every` only runs manually."),
  query: {
    schedule: Schema.optionalKey(Schedule),
    every: Schema.optionalKey(Every),
    anchor: Schema.optionalKey(anchorInput)
  },
  fields: {
    schedule: Schema.NullOr(Schema.String).annotate({
      description: "The cron expression, as it was written in the request. Null if there is none."
    }),
    every: Schema.NullOr(Schema.String).annotate({
      description: "The interval, as it was written in the request. Null if there is none.",
      examples: [null]
    }),
    anchor: Schema.NullOr(Timestamp).annotate({
      description:
        "A time at which the task fires, from which the interval is counted. Null counts from 1970-01-01T00:00:00Z.",
      examples: [null]
    })
  },
  defaults: { schedule: null, every: null, anchor: null }
} as const

export interface TimingFields {
  readonly schedule?: string | null
  readonly every?: string | null
  readonly anchor?: string | null
}

const isGiven = (value: string | null | undefined) => value !== undefined && value !== null

/**
 * Returns the problem with a request that has both a schedule and an interval, or only an anchor.
 */
export const taskTimingProblem = ({
  anchor,
  every,
  schedule
}: TimingFields): FieldProblem | undefined =>
  isGiven(schedule) && isGiven(every)
    ? { path: ["every"], code: "conflict", problem: "must be absent if schedule is given" }
    : isGiven(anchor) && !isGiven(every)
      ? { path: ["anchor"], code: "invalid", problem: "must be given together with every" }
      : undefined

export const missingTimingProblem: FieldProblem = {
  path: ["schedule"],
  code: "required",
  problem: "or every is required"
}

const checkOf = (problemOf: (given: TimingFields) => FieldProblem | undefined) =>
  Schema.makeFilter<TimingFields>(
    (given) => {
      const problem = problemOf(given)
      return problem && filterIssue(problem)
    },
    { toJsonSchema: () => ({}) }
  )

export const timingCheck = checkOf(taskTimingProblem)

/** Like `timingCheck`, and requires a schedule or an interval. */
export const requiredTimingCheck = checkOf(
  (given) =>
    taskTimingProblem(given) ??
    (isGiven(given.schedule) || isGiven(given.every) ? undefined : missingTimingProblem)
)
