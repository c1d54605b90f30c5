import { Schema } from "effect"

export const maxWaitSeconds = 30

/** The query parameter of endpoints that can wait until the run they return has finished. */
export const WaitQuery = {
  wait_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxWaitSeconds })).annotate({
      description:
        "Waits up to this many seconds for the record to finish, and then returns its current " +
        "state. Defaults to 0, which returns immediately. The response may come early if the node " +
        "stops or too many requests are waiting. Repeat the request while `finished_at` is " +
        "null.",
      default: 0
    })
  )
}
