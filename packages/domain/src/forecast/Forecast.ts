import { Result, Schema } from "effect"
import { ExecutionKind, TaskId } from "../executions/Execution.ts"
import { Timestamp, timestampInput } from "../shared/Timestamp.ts"
import { issueAt, type ValidationIssue } from "../shared/ValidationIssue.ts"

const day = 86_400_000

const maxForecastDays = 7
const maxAheadDays = 365

/** How many of the fullest minutes are shown, and how many tasks of each. */
export const maxBusiest = 10
export const maxColliding = 10

export const ForecastQuery = {
  from: Schema.optionalKey(
    timestampInput("The start, inclusive. Now when absent or past. At most 365 days ahead.")
  ),
  to: Schema.optionalKey(
    timestampInput(
      "The end, exclusive. A day after `from` when absent, and at most 7 days after it."
    )
  )
}

export interface ForecastRange {
  readonly from: number
  readonly to: number
}

/** The time that a forecast covers. By default it begins now and is a day long. */
export const forecastRange = (
  query: { readonly from?: Timestamp; readonly to?: Timestamp },
  now: number
): Result.Result<ForecastRange, ValidationIssue> => {
  const from = Math.max(now, query.from === undefined ? now : Date.parse(query.from))
  const to = query.to === undefined ? from + day : Date.parse(query.to)
  if (from > now + maxAheadDays * day) {
    return Result.fail(
      issueAt(["from"], "out_of_range", `must be at most ${maxAheadDays} days ahead`)
    )
  }
  if (to <= from) {
    return Result.fail(issueAt(["to"], "out_of_range", "must be after from, and in the future"))
  }
  if (to - from > maxForecastDays * day) {
    const message = `must be at most ${maxForecastDays} days after from, which is now when absent or past`
    return Result.fail(issueAt(["to"], "out_of_range", message))
  }
  return Result.succeed({ from, to })
}

const minute = {
  at: Timestamp.annotate({ description: "The beginning of the minute." }),
  runs: Schema.Int.annotate({ description: "How many begin in it." })
}

const ForecastTask = Schema.Struct({
  kind: ExecutionKind,
  task_id: TaskId,
  name: Schema.NullOr(Schema.String).annotate({
    description: "The name of the task. Null for a delayed task without one."
  })
}).annotate({ identifier: "ForecastTask" })
export type ForecastTask = typeof ForecastTask.Type

/** How many runs begin when. */
export const Forecast = Schema.Struct({
  from: Timestamp.annotate({ description: "The start of the time covered, inclusive." }),
  to: Timestamp.annotate({ description: "The end of the time covered, exclusive." }),
  runs: Schema.Int.annotate({ description: "How many begin in all." }),
  minutes: Schema.Array(Schema.Struct(minute).annotate({ identifier: "ForecastMinute" })).annotate({
    description: "The minutes in which any begin, soonest first."
  }),
  busiest: Schema.Array(
    Schema.Struct({
      ...minute,
      tasks: Schema.Array(ForecastTask).annotate({
        description: "Which tasks begin together, at most 10 of them."
      })
    }).annotate({ identifier: "BusyMinute" })
  ).annotate({
    description: "The minutes in which several begin, at most 10, the fullest first."
  }),
  spread: Schema.Array(
    Schema.Struct({
      seconds: Schema.Int.annotate({ description: "0: each at its slot." }),
      most_per_second: Schema.Finite.annotate({ description: "The most runs within one second." })
    }).annotate({ identifier: "ForecastSpread" })
  ).annotate({
    description:
      "The most runs that would begin within one second if each schedule's run began at a random time within " +
      "so many seconds after its slot. Delayed tasks count as spread over their minute."
  })
}).annotate({
  identifier: "Forecast",
  description: "How many runs of cron tasks, scheduled chains and delayed tasks begin when.",
  examples: [
    {
      from: "2026-01-31T09:00:00.000Z",
      to: "2026-01-31T10:00:00.000Z",
      runs: 62,
      minutes: [
        { at: "2026-01-31T09:00:00.000Z", runs: 61 },
        { at: "2026-01-31T09:30:00.000Z", runs: 1 }
      ],
      busiest: [
        {
          at: "2026-01-31T09:00:00.000Z",
          runs: 61,
          tasks: [
            {
              kind: "cron",
              task_id: TaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
              name: "Nightly report"
            }
          ]
        }
      ],
      spread: [
        { seconds: 0, most_per_second: 61 },
        { seconds: 60, most_per_second: 1.02 }
      ]
    }
  ]
})
export type Forecast = typeof Forecast.Type
