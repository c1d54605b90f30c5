import { Schema } from "effect"
import { options } from "../shared/options.ts"
import { NeededLabels } from "./Label.ts"

const maxWorkerWaitSeconds = 86_400

/** Where a call is made, as kept and shown. Null: by the service itself. */
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
  description: "The call is made by an online worker of the workspace that has all these labels.",
  examples: [{ labels: ["office"] }]
})

/** The fields by which a task or a step says where its call is made. */
export const runOn = options({
  run_on: {
    input: Schema.NullOr(RunOnInput).annotate({
      description:
        "Which worker makes the call. The service itself when absent or null. With it, the URL may name a private address: the worker decides where it may call."
    }),
    shown: Schema.NullOr(RunOn).annotate({
      description: "Which worker makes the call. Null: the service itself.",
      examples: [null]
    }),
    default: null
  },
  worker_wait_seconds: {
    input: Schema.Int.check(
      Schema.isBetween({ minimum: 0, maximum: maxWorkerWaitSeconds })
    ).annotate({
      description:
        "How long a run with `run_on` waits for a worker before it fails with `no_worker`. 300 when absent.",
      examples: [300]
    }),
    shown: Schema.Int.annotate({
      description: "How long a run waits for a worker before it fails.",
      examples: [300]
    }),
    default: 300
  }
})
