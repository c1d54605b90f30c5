import { Schema } from "effect"
import { options } from "../shared/options.ts"
import { NeededLabels } from "./Label.ts"

const maxWorkerWaitSeconds = 86_400

/** The worker that makes a call, as stored and shown. Null for the service itself. */
export const RunOn = Schema.Struct({
  labels: Schema.Array(Schema.String).annotate({
    description: "The labels that a worker must have."
  })
}).annotate({
  identifier: "RunOn",
  examples: [{ labels: ["office"] }]
})
export type RunOn = typeof RunOn.Type

export const RunOnInput = Schema.Struct({ labels: NeededLabels }).annotate({
  identifier: "RunOnInput",
  description: "An online worker of the workspace with all these labels makes the call.",
  examples: [{ labels: ["office"] }]
})

/** The options of a task or a step that choose the worker of its calls. */
export const runOn = options({
  run_on: {
    absent: "The service itself",
    input: Schema.NullOr(RunOnInput).annotate({
      description:
        "The worker that makes the call. With `run_on`, the URL can name a private address: the worker decides which addresses it calls."
    }),
    shown: Schema.NullOr(RunOn).annotate({
      description: "The worker that makes the call. Null: the service itself.",
      examples: [null]
    }),
    default: null
  },
  worker_wait_seconds: {
    absent: "300",
    input: Schema.Int.check(
      Schema.isBetween({ minimum: 0, maximum: maxWorkerWaitSeconds })
    ).annotate({
      description:
        "Number of seconds for which a run with `run_on` waits for a worker before it fails with `no_worker`.",
      examples: [300]
    }),
    shown: Schema.Int.annotate({
      description: "Number of seconds for which a run waits for a worker before it fails.",
      examples: [300]
    }),
    default: 300
  }
})
