import { Schema } from "effect"
import { QueueId } from "../shared/Ids.ts"
import { options } from "../shared/options.ts"
import { OwnKey } from "../shared/requests/OwnKey.ts"

/** The fields by which a task says in which queue its runs wait for a slot. */
export const queueRef = options({
  queue_id: {
    absent: "None",
    input: Schema.NullOr(QueueId).annotate({
      description:
        "A queue of the workspace, which limits how many runs go on at once and how often one " +
        "begins. Each step of a chain counts.",
      examples: [null]
    }),
    shown: Schema.NullOr(QueueId).annotate({
      description: "The queue in which its runs wait for a slot. Null if there is none.",
      examples: [null]
    }),
    default: null
  },
  queue_key: {
    absent: "None",
    input: Schema.NullOr(OwnKey).annotate({
      description:
        "The key of the queue, in place of `queue_id`. If both are given, they must name the same " +
        "queue.",
      examples: [null]
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The key of the queue. Null if there is no queue, or if it has no key.",
      examples: [null]
    }),
    default: null
  }
})
