import { Schema, Struct } from "effect"
import { MinuteSchedule } from "../../schedules/Schedule.ts"
import { TimeZone } from "../../schedules/TimeZone.ts"
import { uuidPattern } from "../../shared/Ids.ts"
import { patchFields, optionalWithDefault } from "../../shared/requests/optionalWithDefault.ts"
import { keyInput } from "../../shared/requests/CallerChosenKey.ts"
import { ListPage } from "../../shared/requests/ListQuery.ts"
import { nullIsAbsent, putFields } from "../../shared/requests/putBody.ts"
import { versionInput } from "../../shared/requests/Version.ts"
import { Timestamp } from "../../shared/Timestamp.ts"
import { type FieldProblem, filterIssue } from "../../shared/ValidationIssue.ts"
import { exampleOfMonitor, monitorFields, monitorInput, monitorPausedInput } from "../Monitor.ts"

export const heartbeatDefaults = {
  key: null,
  tags: [],
  period_seconds: null,
  schedule: null,
  timezone: TimeZone.make("UTC"),
  grace_seconds: 300,
  max_duration_seconds: null,
  min_interval_seconds: null
} as const

const seconds = (minimum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum: 365 * 24 * 60 * 60 }))

const fields = Schema.Struct({
  ...monitorInput,
  period_seconds: Schema.optionalKey(
    seconds(30).annotate({
      description: "Number of seconds between two pings, counted from the latest ping.",
      examples: [86_400]
    })
  ),
  schedule: Schema.optionalKey(
    MinuteSchedule.pipe(
      Schema.annotateEncoded({
        description:
          "When pings are due, as a cron expression with five fields. A ping also counts for the next slot if it is early by at most five minutes, the grace period or a quarter of the time between two slots, whichever is shortest.",
        examples: ["0 3 * * *"]
      })
    )
  ),
  timezone: optionalWithDefault(
    "UTC",
    TimeZone.pipe(
      Schema.annotateEncoded({
        description: "The IANA time zone of `schedule`.",
        examples: ["Europe/Berlin"]
      })
    )
  ),
  grace_seconds: optionalWithDefault(
    "300",
    seconds(30).annotate({
      description: "Number of seconds by which a ping can be late.",
      examples: [300]
    })
  ),
  max_duration_seconds: optionalWithDefault(
    "No limit",
    Schema.NullOr(seconds(1)).annotate({
      description:
        "The maximum duration of a run, from its `/start` to its end. If set, a `/start` in time satisfies the schedule and the end has this separate deadline, so a long job needs no long grace period.",
      examples: [3600]
    })
  ),
  min_interval_seconds: optionalWithDefault(
    "No limit",
    Schema.NullOr(seconds(1)).annotate({
      description:
        "The minimum number of seconds between the starts of two runs. A run that starts " +
        "earlier also opens an incident.",
      examples: [60]
    })
  )
})

interface Timing {
  readonly period_seconds?: number
  readonly schedule?: string
  readonly timezone?: string
  readonly min_interval_seconds?: number | null
}

const bothGiven = ({ period_seconds, schedule }: Timing) =>
  period_seconds !== undefined && schedule !== undefined
const noneGiven = ({ period_seconds, schedule }: Timing) =>
  period_seconds === undefined && schedule === undefined

const notBoth: FieldProblem = {
  path: ["schedule"],
  code: "invalid",
  problem: "must not be given together with period_seconds"
}
const missing: FieldProblem = {
  path: ["period_seconds"],
  code: "required",
  problem: "or schedule is required"
}

const exactlyOne = Schema.makeFilter<Timing>(
  (timing) => {
    const problem = bothGiven(timing) ? notBoth : noneGiven(timing) ? missing : undefined
    return problem && filterIssue(problem)
  },
  {
    toJsonSchema: () => ({ oneOf: [{ required: ["period_seconds"] }, { required: ["schedule"] }] })
  }
)

/**
 * Like `exactlyOne`, but for a PUT. A PUT may contain a copy of a response, in which the unused
 * field is null.
 */
const exactlyOneSet = Schema.makeFilter<Timing>((timing) =>
  bothGiven(timing) ? filterIssue(notBoth) : noneGiven(timing) ? filterIssue(missing) : undefined
)

const atMostOne = Schema.makeFilter<Timing>(
  (timing) => (bothGiven(timing) ? filterIssue(notBoth) : undefined),
  {
    toJsonSchema: () => ({
      not: {
        properties: { period_seconds: {}, schedule: {} },
        required: ["period_seconds", "schedule"]
      }
    })
  }
)

/** Returns the problem with a new or changed monitor's timing, if any. */
export const timingProblem = (timing: {
  readonly period_seconds?: number | null
  readonly min_interval_seconds?: number | null
}): FieldProblem | undefined => {
  const { min_interval_seconds, period_seconds } = timing
  return period_seconds != null &&
    min_interval_seconds != null &&
    min_interval_seconds >= period_seconds
    ? {
        path: ["min_interval_seconds"],
        code: "out_of_range",
        problem: "must be less than period_seconds"
      }
    : undefined
}

export const timezoneWithoutScheduleProblem: FieldProblem = {
  path: ["timezone"],
  code: "invalid",
  problem: "must be left out, because the monitor has no schedule"
}

const hasConsistentTiming = Schema.makeFilter<Timing>((timing) => {
  const problem =
    timing.timezone !== undefined && timing.schedule === undefined
      ? timezoneWithoutScheduleProblem
      : timingProblem(timing)
  return problem && filterIssue(problem)
})

/**
 * A field that is accepted only when a monitor is created. Responses show it as part of `ping_url`.
 */
const pingIdInput = {
  ping_id: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(uuidPattern, {
        expected: "a UUID",
        toJsonSchema: () => ({ format: "uuid" })
      })
    ).annotate({
      description:
        "The UUID at the end of a new monitor's `ping_url`, for example that of a check that you move here from another service. It is a secret. Random when absent. Ignored if the monitor exists: use `rotate-url` to change it.",
      examples: ["5f3c1a52-93a4-4c5e-8d0b-9f1e2d3c4b5a"]
    })
  )
}

const fieldsWithKey = fields.mapFields(Struct.assign({ ...keyInput, ...monitorPausedInput }))

/**
 * The timing fields of a PUT. They accept null, because responses have null for the timing that the
 * monitor does not use.
 */
const putTiming = {
  period_seconds: nullIsAbsent(fields.fields.period_seconds),
  schedule: nullIsAbsent(fields.fields.schedule),
  timezone: nullIsAbsent(fields.fields.timezone)
}

const exampleDefinition = {
  name: "Nightly backup",
  tags: ["nightly"],
  schedule: MinuteSchedule.make("0 3 * * *"),
  timezone: TimeZone.make("Europe/Berlin"),
  grace_seconds: 300,
  max_duration_seconds: 3600
}

export const HeartbeatMonitorInput = fieldsWithKey
  .mapFields(Struct.assign(pingIdInput))
  .check(hasConsistentTiming, exactlyOne)
  .annotate({
    identifier: "HeartbeatMonitorInput",
    description: "A heartbeat monitor to create. Requires either `period_seconds` or `schedule`.",
    examples: [exampleDefinition]
  })
export type HeartbeatMonitorInput = typeof HeartbeatMonitorInput.Type

export const HeartbeatMonitorUpdate = fieldsWithKey
  .mapFields(patchFields)
  .mapFields(Struct.assign(versionInput))
  .check(atMostOne)
  .annotate({
    identifier: "HeartbeatMonitorUpdate",
    description:
      "The fields to change. Absent fields keep their values. `period_seconds` replaces a schedule, " +
      "and a schedule replaces a period. A deadline that would have passed under the new " +
      "settings counts from now.",
    examples: [{ grace_seconds: 600 }]
  })
export type HeartbeatMonitorUpdate = typeof HeartbeatMonitorUpdate.Type

export const HeartbeatMonitor = Schema.Struct({
  ...monitorFields,
  period_seconds: Schema.NullOr(Schema.Int).annotate({
    description: "Number of seconds between two pings. Null if the monitor has a schedule."
  }),
  schedule: Schema.NullOr(Schema.String).annotate({
    description: "When pings are due. Null if the monitor has a period."
  }),
  timezone: Schema.NullOr(Schema.String).annotate({
    description: "The IANA time zone of the schedule. Null if the monitor has a period."
  }),
  grace_seconds: Schema.Int.annotate({
    description: "Number of seconds by which a ping can be late."
  }),
  max_duration_seconds: Schema.NullOr(Schema.Int).annotate({
    description: "The maximum duration of a run in seconds. Null if there is none."
  }),
  min_interval_seconds: Schema.NullOr(Schema.Int).annotate({
    description:
      "The minimum number of seconds between the starts of two runs. Null if there is none."
  }),
  ping_url: Schema.NullOr(Schema.String).annotate({
    description:
      "The URL that the job requests once it has finished. It is a secret: anybody who has it can ping. " +
      "Null for a `viewer` and for an API key without `monitors:write`.",
    examples: ["https://scheduling.example.com/ping/5f3c1a52-93a4-4c5e-8d0b-9f1e2d3c4b5a"]
  }),
  last_ping_at: Schema.NullOr(Timestamp).annotate({
    description:
      "The time of the latest ping that reported a success or a failure. Null before the first one."
  }),
  last_duration_ms: Schema.NullOr(Schema.Int).annotate({
    description: "The duration of the latest run whose start and end are known."
  }),
  running_since: Schema.NullOr(Timestamp).annotate({
    description: "The start of the oldest unfinished run. Null if there is none."
  }),
  expected_at: Schema.NullOr(Timestamp).annotate({
    description: "When the next ping is due. Null before the first ping, and while paused."
  }),
  alert_at: Schema.NullOr(Timestamp).annotate({
    description: "When the monitor goes down unless a ping arrives before."
  })
}).annotate({
  identifier: "HeartbeatMonitor",
  examples: [
    {
      ...exampleOfMonitor,
      period_seconds: null,
      schedule: "0 3 * * *",
      timezone: "Europe/Berlin",
      grace_seconds: 300,
      max_duration_seconds: 3600,
      min_interval_seconds: null,
      ping_url: "https://scheduling.example.com/ping/5f3c1a52-93a4-4c5e-8d0b-9f1e2d3c4b5a",
      last_ping_at: "2026-01-31T02:04:11.000Z",
      last_duration_ms: 251_000,
      running_since: null,
      expected_at: "2026-02-01T02:00:00.000Z",
      alert_at: "2026-02-01T02:05:00.000Z"
    }
  ]
})
export type HeartbeatMonitor = typeof HeartbeatMonitor.Type

export const HeartbeatMonitorDefinition = Schema.Struct(
  putFields(
    { ...fields.fields, ...putTiming, ...pingIdInput, ...monitorPausedInput, ...versionInput },
    HeartbeatMonitor
  )
)
  .check(hasConsistentTiming, exactlyOneSet)
  .annotate({
    identifier: "HeartbeatMonitorDefinition",
    description:
      "A heartbeat monitor whose key is in the path. Requires either `period_seconds` or " +
      "`schedule`. Absent fields get their defaults. Fields that only responses have are " +
      "ignored.",
    examples: [exampleDefinition]
  })
export type HeartbeatMonitorDefinition = typeof HeartbeatMonitorDefinition.Type

export const HeartbeatMonitorPage = ListPage("HeartbeatMonitorPage", HeartbeatMonitor)
