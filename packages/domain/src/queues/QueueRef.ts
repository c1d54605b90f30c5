import { Schema } from "effect"
import { QueueId } from "../shared/Ids.ts"
import { options } from "../shared/options.ts"
import { OwnKey } from "../shared/requests/OwnKey.ts"

/** The fields of a task that select the queue of its runs. */
export const queueRef = options({
  queue_id: {
    absent: "None",
    input: Schema.NullOr(QueueId).annotate({
      description:
        "A queue of the workspace. The queue limits how many runs are in progress and how often a run " +
        "starts. Each step of a chain counts as a run.",
      examples: [null]
    }),
    shown: Schema.NullOr(QueueId).annotate({
      description: "The queue in which the runs wait for a slot. Null if none.",
      examples: [null]
    }),
    default: null
  },
  queue_key: {
    absent: "None",
    input: Schema.NullOr(OwnKey).annotate({
      description:
        "The key of the queue, instead of `queue_id`. If both are given, they must name the same " +
        "queue.",
      examples: [null]
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The key of the queue. Null if there is no queue, or if the queue has no key.",
      examples: [null]
    }),
    default: null
  }
})
