import { Schema } from "effect"
import { QueueId } from "../shared/Ids.ts"
import { deriveOptions } from "../shared/deriveOptions.ts"
import { CallerChosenKey } from "../shared/requests/CallerChosenKey.ts"
import { Flow, FlowInput } from "./Flow.ts"

export const maxPriority = 100

export const Priority = Schema.Int.check(
  Schema.isBetween({ minimum: -maxPriority, maximum: maxPriority })
)

/** A task's fields that determine the queue or the flow of its runs, and their priority. */
export const queueOptions = deriveOptions({
  queue_id: {
    absent: "None",
    input: Schema.NullOr(QueueId).annotate({
      description:
        "A queue of the workspace. The queue limits how many runs are in progress and how often a run " +
        "starts. Each step of a chain counts as a run.",
      examples: [null]
    }),
    shown: Schema.NullOr(QueueId).annotate({
      description: "The queue in which the runs wait for a slot. Null if there is none.",
      examples: [null]
    }),
    default: null
  },
  queue_key: {
    absent: "None",
    input: Schema.NullOr(CallerChosenKey).annotate({
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
  },
  flow: {
    absent: "None",
    input: Schema.NullOr(FlowInput).annotate({
      description:
        "Limits how many runs with the same key are in progress, and how often they start. The key can contain values of the run, and exists only while runs use it. If tasks give a key different limits, those of " +
        "the task that was changed last apply. Each step of a chain counts as a run. A task has either a " +
        "flow or a queue. A new flow replaces the whole flow.",
      examples: [null]
    }),
    shown: Schema.NullOr(Flow).annotate({
      description: "The limits of runs with the same key. Null if there are none.",
      examples: [null]
    }),
    default: null
  },
  priority: {
    absent: "0",
    input: Priority.annotate({
      description:
        "Within a queue or a flow, a run with a higher priority starts first. 10 seconds of waiting are " +
        "worth one point, so no run waits forever. Without a queue or a flow, the priority has no effect.",
      examples: [0]
    }),
    shown: Schema.Int.annotate({
      description: "The priority of the runs within their queue or flow, from -100 to 100.",
      examples: [0]
    }),
    default: 0
  }
})
