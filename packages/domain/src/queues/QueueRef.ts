import { Schema } from "effect"
import { QueueId } from "../shared/Ids.ts"
import { options } from "../shared/options.ts"

/** The field by which a task says in which queue its runs wait for their turn. */
export const queueRef = options({
  queue_id: {
    input: Schema.NullOr(QueueId).annotate({
      description:
        "A queue of the workspace, which limits how many runs go on at once and how often one begins. Each step of a chain counts. None when absent or null.",
      examples: [null]
    }),
    shown: Schema.NullOr(QueueId).annotate({
      description: "The queue in which its runs wait for their turn. Null if there is none.",
      examples: [null]
    }),
    default: null
  }
})
