import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { withoutField } from "../shared/requests/whenAbsent.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { options } from "../shared/options.ts"
import { firingOptions } from "./FiringOptions.ts"
import { DstOverlap } from "../schedules/Schedule.ts"
import { TimeZone } from "../schedules/TimeZone.ts"

export const Overlap = oneOf(["allow", "skip", "queue"], {
  identifier: "Overlap",
  description:
    "What to do with a slot while the previous run is unfinished: `allow` starts it beside that " +
    "run, `queue` starts it after that run, `skip` drops it and records a skipped execution."
})
export type Overlap = typeof Overlap.Type

export const Missed = oneOf(["skip", "once"], {
  identifier: "Missed",
  description:
    "What to do with slots that were missed while the service was down: `once` makes one run for " +
    "all of them, `skip` makes none."
})
export type Missed = typeof Missed.Type

export const DstOverlapRule = DstOverlap.annotate({
  identifier: "DstOverlap",
  description:
    "What to do when clocks fall back and a time of day comes twice: `first` fires the first time " +
    "only, `both` fires both times. Schedules whose minute or hour starts with `*` go by elapsed " +
    "time and always fire both times."
})

const always = options({
  timezone: {
    absent: "UTC",
    input: TimeZone.pipe(Schema.annotateEncoded({ description: "An IANA time zone name." })),
    shown: Schema.String.annotate({ description: "The IANA time zone of the schedule." }),
    default: TimeZone.make("UTC")
  },
  overlap: { absent: "`skip`", input: Overlap, shown: Overlap, default: "skip" },
  missed: { absent: "`once`", input: Missed, shown: Missed, default: "once" },
  dst_overlap: { absent: "`first`", input: DstOverlapRule, shown: DstOverlapRule, default: "first" }
})

const pausedReason = Schema.NullOr(Schema.String).annotate({
  description: "Why the service paused it. Null if it did not.",
  examples: [null]
})

/** The options that go with a schedule, in cron tasks and in chains that have one. */
export const firing = {
  input: { ...always.input, ...firingOptions.input },
  fields: { ...always.fields, ...firingOptions.fields, paused_reason: pausedReason },
  defaults: { ...always.defaults, ...firingOptions.defaults }
}

export const TaskStatus = oneOf(["active", "paused"], {
  identifier: "TaskStatus",
  description: "While `paused` the schedule does not fire. A manual run still works."
})
export type TaskStatus = typeof TaskStatus.Type

/** The field by which a definition says that a task does not fire for now. */
export const pausedInput = {
  paused: withoutField(
    "When absent, a new one is not paused, and an existing one stays as it is.",
    Schema.Boolean.annotate({
      description: "While it is true, the schedule does not fire. A manual run still works."
    })
  )
}

export const pausedField = {
  paused: Schema.Boolean.annotate({
    description: "Whether it is paused: the schedule does not fire. A manual run still works."
  })
}

export const NextRunAt = Schema.NullOr(Timestamp).annotate({
  description:
    "When it runs next, jitter included. Null while paused, without a schedule, and after the last " +
    "slot before `ends_at`."
})
