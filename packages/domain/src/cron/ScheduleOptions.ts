import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { optionalWithNote } from "../shared/requests/optionalWithDefault.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { deriveOptions } from "../shared/deriveOptions.ts"
import { firingOptions } from "./FiringOptions.ts"
import { DstOverlap } from "../schedules/Schedule.ts"
import { TimeZone } from "../schedules/TimeZone.ts"

export const Overlap = oneOf(["allow", "skip", "queue"], {
  identifier: "Overlap",
  description:
    "What to do at a slot while the previous run is unfinished: `allow` starts a second " +
    "run, `queue` starts a run after the previous one, `skip` records a skipped execution."
})
export type Overlap = typeof Overlap.Type

export const MissedSlots = oneOf(["skip", "once", "all"], {
  identifier: "MissedSlots",
  description:
    "What to do about slots that were missed while the service was down: `once` starts one run for " +
    "all of them, `skip` starts none, `all` starts one for each slot of the last 24 hours, in order."
})
export type MissedSlots = typeof MissedSlots.Type

/** `DstOverlap` with its name and description in the API. */
export const DstOverlapRule = DstOverlap.annotate({
  identifier: "DstOverlap",
  description:
    "What to do when clocks fall back and a local time occurs twice: `first` fires only the first " +
    "time, `both` fires both times. Schedules whose minute or hour starts with `*` run by elapsed " +
    "time and always fire both times."
})

const always = deriveOptions({
  timezone: {
    absent: "UTC",
    input: TimeZone.pipe(Schema.annotateEncoded({ description: "An IANA time zone name." })),
    shown: Schema.String.annotate({ description: "The IANA time zone of the schedule." }),
    default: TimeZone.make("UTC")
  },
  overlap: { absent: "`skip`", input: Overlap, shown: Overlap, default: "skip" },
  missed: { absent: "`once`", input: MissedSlots, shown: MissedSlots, default: "once" },
  dst_overlap: { absent: "`first`", input: DstOverlapRule, shown: DstOverlapRule, default: "first" }
})

const pausedReason = Schema.NullOr(Schema.String).annotate({
  description: "Why the service paused the task. Null if it did not.",
  examples: [null]
})

/** The schedule options of cron tasks and of chains with a schedule. */
export const scheduleOptions = {
  input: { ...always.input, ...firingOptions.input },
  fields: { ...always.fields, ...firingOptions.fields, paused_reason: pausedReason },
  defaults: { ...always.defaults, ...firingOptions.defaults }
}

export const TaskStatus = oneOf(["active", "paused"], {
  identifier: "TaskStatus",
  description: "While `paused`, the schedule does not fire. Manual runs still work."
})
export type TaskStatus = typeof TaskStatus.Type

/** The input field that pauses and resumes a task. */
export const pausedInput = {
  paused: optionalWithNote(
    "Defaults to false for a new task. An existing task is unchanged.",
    Schema.Boolean.annotate({
      description: "While true, the schedule does not fire. Manual runs still work."
    })
  )
}

export const pausedField = {
  paused: Schema.Boolean.annotate({
    description:
      "Whether the task is paused. While paused, the schedule does not fire. Manual runs still work."
  })
}

export const NextRunAt = Schema.NullOr(Timestamp).annotate({
  description:
    "The time of the next run, including jitter. Null while paused, without a schedule, and after the last " +
    "slot before `ends_at`."
})
