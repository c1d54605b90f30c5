import { Schema, Struct } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { Cursor } from "../shared/requests/Page.ts"
import { repeatable } from "../shared/requests/repeatable.ts"
import { ExecutionFilters } from "./Execution.ts"

/** The maximum number of executions examined per request. */
export const maxExaminedPerRerun = 1_000

export const RerunStatus = oneOf(["failed", "cancelled", "skipped"], {
  identifier: "RerunStatus",
  description: "Rerun only the executions that ended with this result."
})
export type RerunStatus = typeof RerunStatus.Type

/** Selects the executions to rerun. */
export const RerunFilter = Schema.Struct({
  ...Struct.omit(ExecutionFilters, ["status"]),
  status: repeatable(RerunStatus, "The status of the execution"),
  cursor: Schema.optionalKey(
    Cursor.annotate({
      description: "The `cursor` of the previous response. Absent in the first request."
    })
  )
}).annotate({
  identifier: "RerunFilter",
  description:
    "The filters of the list. `from` is inclusive and `to` exclusive. Both refer to `scheduled_for`.",
  examples: [
    { status: ["failed"], from: "2026-01-31T09:00:00.000Z", to: "2026-01-31T10:00:00.000Z" }
  ]
})
export type RerunFilter = typeof RerunFilter.Type

export const Reruns = Schema.Struct({
  count: Schema.Int.annotate({ description: "The number of executions that this request queued." }),
  cursor: Schema.NullOr(Cursor).annotate({
    description: "The cursor for the next request with the same filter. Null when nothing is left."
  })
}).annotate({ identifier: "Reruns", examples: [{ count: 42, cursor: null }] })
export type Reruns = typeof Reruns.Type
