import { Result, Schema } from "effect"
import { ExecutionKind, TaskId } from "../executions/Execution.ts"
import { Timestamp, timestampInput } from "../shared/Timestamp.ts"
import { issueAt, type ValidationIssue } from "../shared/ValidationIssue.ts"

const day = 86_400_000

const maxForecastDays = 7
const maxAheadDays = 365

/** The maximum number of busiest minutes, and of tasks shown per minute. */
export const maxBusiestMinutes = 10
export const maxTasksPerBusyMinute = 10

export const ForecastQuery = {
  from: Schema.optionalKey(
    timestampInput(
      "The start, inclusive. Defaults to now, also if in the past. At most 365 days ahead."
    )
  ),
  to: Schema.optionalKey(
    timestampInput(
      "The end, exclusive. Defaults to a day after `from`. At most 7 days after `from`."
    )
  )
}

export interface ForecastRange {
  readonly from: number
  readonly to: number
}

/** Returns the time range of a forecast. The default is the next 24 hours. */
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
    return Result.fail(issueAt(["to"], "out_of_range", "must be in the future and later than from"))
  }
  if (to - from > maxForecastDays * day) {
    const message = `must be at most ${maxForecastDays} days after from, which defaults to now`
    return Result.fail(issueAt(["to"], "out_of_range", message))
  }
  return Result.succeed({ from, to })
}

const minute = {
  at: Timestamp.annotate({ description: "The start of the minute." }),
  runs: Schema.Int.annotate({ description: "The number of runs that start in this minute." })
}

const ForecastTask = Schema.Struct({
  kind: ExecutionKind,
  task_id: TaskId,
  name: Schema.NullOr(Schema.String).annotate({
    description: "The name of the task. Null for a delayed task without one."
  })
}).annotate({ identifier: "ForecastTask" })
export type ForecastTask = typeof ForecastTask.Type

/** The number of runs that start in each minute. */
export const Forecast = Schema.Struct({
  from: Timestamp.annotate({ description: "The start of the time range, inclusive." }),
  to: Timestamp.annotate({ description: "The end of the time range, exclusive." }),
  runs: Schema.Int.annotate({ description: "The total number of runs." }),
  minutes: Schema.Array(Schema.Struct(minute).annotate({ identifier: "ForecastMinute" })).annotate({
    description: "The minutes in which runs start, soonest first."
  }),
  busiest: Schema.Array(
    Schema.Struct({
      ...minute,
      tasks: Schema.Array(ForecastTask).annotate({
        description: "The tasks whose runs start in this minute, at most 10."
      })
    }).annotate({ identifier: "BusyMinute" })
  ).annotate({
    description: "The minutes in which several runs start, at most 10, busiest first."
  }),
  spread: Schema.Array(
    Schema.Struct({
      seconds: Schema.Int.annotate({
        description: "The spread in seconds. 0 means that each run starts at its slot."
      }),
      most_per_second: Schema.Finite.annotate({
        description: "The peak: the most runs that are due within any single second."
      })
    }).annotate({ identifier: "ForecastSpread" })
  ).annotate({
    description:
      "The maximum number of runs that would start within one second if each scheduled run started at a random time within " +
      "the given number of seconds after its slot. Delayed tasks count as spread over their minute."
  })
}).annotate({
  identifier: "Forecast",
  description:
    "The number of runs of cron tasks, scheduled chains and delayed tasks that start in each minute.",
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
