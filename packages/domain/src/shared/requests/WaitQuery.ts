import { Schema } from "effect"

export const maxWaitSeconds = 30

/** The query of an endpoint that can wait until its record has finished. */
export const WaitQuery = {
  wait_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxWaitSeconds })).annotate({
      description:
        "Holds the answer until the record has ended, but at most for this many seconds. Then the " +
        "answer is the record as it is. 0 when absent: the answer comes at once. It may also come " +
        "early: when the node stops, or when too many requests wait. Ask again while `finished_at` is " +
        "null.",
      default: 0
    })
  )
}
