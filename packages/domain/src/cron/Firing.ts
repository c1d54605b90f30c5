import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { DstOverlap } from "./Schedule.ts"
import { TimeZone } from "./TimeZone.ts"

/** How a schedule fires where its author did not say. */
export const firingDefaults = {
  timezone: TimeZone.make("UTC"),
  overlap: "skip",
  missed: "once",
  dst_overlap: "first"
} as const

export const Overlap = oneOf(["allow", "skip", "queue"], {
  identifier: "Overlap",
  description:
    "When a fire comes while the run before it still goes on: `allow` starts it beside that " +
    "one, `queue` starts it after that one, `skip` drops it and records a skipped execution. " +
    "`skip` where a request leaves it out."
})
export type Overlap = typeof Overlap.Type

export const Missed = oneOf(["skip", "once"], {
  identifier: "Missed",
  description:
    "What becomes of fires that passed while the service was down: `once` makes one run for " +
    "all of them, `skip` none. `once` where a request leaves it out."
})
export type Missed = typeof Missed.Type

export const DstOverlapRule = DstOverlap.annotate({
  identifier: "DstOverlap",
  description:
    "When clocks fall back and a time of the day comes twice: `first` fires the first time " +
    "only, `both` fires each. Schedules whose minute or hour starts with `*` go by elapsed " +
    "time and fire each in any case. `first` where a request leaves it out."
})

/** What goes with a schedule, in cron tasks and in chains that have one. */
export const firingInput = {
  timezone: Schema.optionalKey(
    TimeZone.pipe(
      Schema.annotateEncoded({ description: "An IANA time zone name. UTC when absent." })
    )
  ),
  overlap: Schema.optionalKey(Overlap),
  missed: Schema.optionalKey(Missed),
  dst_overlap: Schema.optionalKey(DstOverlapRule)
}

export const firingFields = {
  timezone: Schema.String,
  overlap: Overlap,
  missed: Missed,
  dst_overlap: DstOverlapRule
}

/** Paused: the schedule does not fire. Runs by hand go on. */
export const TaskStatus = oneOf(["active", "paused"], {
  identifier: "TaskStatus",
  description: "While `paused` the schedule does not fire; a run by hand still works."
})
export type TaskStatus = typeof TaskStatus.Type

export const NextRunAt = Schema.NullOr(Timestamp).annotate({
  description: "The next fire; null while paused or without a schedule."
})
