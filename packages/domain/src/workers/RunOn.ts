import { Schema } from "effect"
import { deriveOptions } from "../shared/deriveOptions.ts"
import { RequiredLabels } from "./Label.ts"

const maxWorkerWaitSeconds = 86_400

/**
 * The workers that are allowed to make a call, as stored and shown. Null if the service itself
 * makes the call.
 */
export const RunOn = Schema.Struct({
  labels: Schema.Array(Schema.String).annotate({
    description: "The labels that a worker must have."
  })
}).annotate({
  identifier: "RunOn",
  examples: [{ labels: ["office"] }]
})
export type RunOn = typeof RunOn.Type

export const RunOnInput = Schema.Struct({ labels: RequiredLabels }).annotate({
  identifier: "RunOnInput",
  description: "The call is made by an online worker of the workspace that has all these labels.",
  examples: [{ labels: ["office"] }]
})

/** A task's or step's options that determine which workers make its calls. */
export const runOn = deriveOptions({
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
