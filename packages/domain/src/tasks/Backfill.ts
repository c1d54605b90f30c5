import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { Timestamp, timestampInput } from "../shared/Timestamp.ts"

/**
 * The maximum number of slots (the times at which the schedule fires) in the period of one
 * backfill.
 */
export const maxBackfillSlots = 10_000

const BackfillSlots = oneOf(["missing", "failed", "all"], {
  identifier: "BackfillSlots",
  description:
    "`missing`: slots without an execution. `failed`: slots whose execution failed, if no execution " +
    "has succeeded. `all`: every slot. Slots with an unfinished execution are always left out. For a chain, its runs are considered."
})

export const BackfillRequest = Schema.Struct({
  from: timestampInput("Only slots at this time or later. It must be within the retention period."),
  to: timestampInput("Only slots before this time. Future slots are always left out."),
  only: Schema.optionalKey(BackfillSlots).annotate({ description: "Defaults to `missing`." }),
  dry_run: Schema.optionalKey(Schema.Boolean).annotate({
    description: "Whether to count the slots without queuing any runs. Defaults to false."
  })
}).annotate({
  identifier: "BackfillRequest",
  examples: [
    {
      from: "2026-05-30T00:00:00.000Z",
      to: "2026-05-31T00:00:00.000Z",
      only: "missing"
    }
  ]
})
export type BackfillRequest = typeof BackfillRequest.Type

export const Backfill = Schema.Struct({
  count: Schema.Int.annotate({
    description:
      "The number of executions that were queued, or with `dry_run`, that would be queued."
  }),
  first: Schema.NullOr(Timestamp).annotate({
    description: "The `scheduled_for` of the first of them. Null if there is none."
  }),
  last: Schema.NullOr(Timestamp).annotate({
    description: "The `scheduled_for` of the last of them. Null if there is none."
  })
}).annotate({
  identifier: "Backfill",
  examples: [{ count: 24, first: "2026-05-30T00:30:00.000Z", last: "2026-05-30T23:30:00.000Z" }]
})
export type Backfill = typeof Backfill.Type
