import { Schema } from "effect"

export const maxWaitSeconds = 30

/** The query of a record that comes to an end. */
export const WaitQuery = {
  wait_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxWaitSeconds })).annotate({
      description:
        "Holds the answer until it has ended, for at most so many seconds, and then answers it as " +
        "it is. 0 when absent: at once. The answer may come sooner though it goes on: when the " +
        "node stops, or too many requests wait. Ask again while `finished_at` is null.",
      default: 0
    })
  )
}
