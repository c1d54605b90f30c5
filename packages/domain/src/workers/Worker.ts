import { Schema } from "effect"
import { secret } from "../shared/secret.ts"
import { WorkerId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/requests/Page.ts"
import { label } from "../shared/Text.ts"
import { Timestamp, createdAt, updatedAt } from "../shared/Timestamp.ts"
import { WorkerLabels } from "./Label.ts"

export const workerTokenPrefix = "pwk_"
export const WorkerStatus = oneOf(["never_seen", "online", "offline", "paused"], {
  identifier: "WorkerStatus",
  description:
    "`never_seen` until its agent starts for the first time. `offline` once nothing was heard of " +
    "its agent for 15 seconds, or when the agent has stopped. `paused` gets no work, whether its " +
    "agent runs or not."
})
export type WorkerStatus = typeof WorkerStatus.Type

const fields = {
  id: WorkerId,
  name: Schema.String.annotate({
    description: "The name for people.",
    examples: ["Office, rack 2"]
  }),
  labels: Schema.Array(Schema.String).annotate({
    description: "Tasks name the labels that their worker must have.",
    examples: [["office", "gpu"]]
  }),
  token_prefix: Schema.String.annotate({
    description: "The first 12 characters of the token, to tell tokens apart.",
    examples: ["pwk_Zk3vT9qL"]
  }),
  status: WorkerStatus,
  last_seen_at: Schema.NullOr(Timestamp).annotate({
    description: "When its agent was last heard of. Null if never."
  }),
  version: Schema.NullOr(Schema.String).annotate({
    description: "The version of its agent. Null until it starts.",
    examples: ["0.1.0"]
  }),
  host: Schema.NullOr(Schema.String).annotate({
    description: "The machine that its agent runs on, as the agent names it.",
    examples: ["rack2.office.example.com"]
  }),
  running: Schema.Int.annotate({ description: "How many runs it holds now." }),
  slots: Schema.NullOr(Schema.Int).annotate({
    description: "How many runs its agent takes at once.",
    examples: [16]
  }),
  created_at: createdAt,
  updated_at: updatedAt
}

const exampleToken = "pwk_Zk3vT9qLm2XcR7wYbN5hJ8dFgKsPaQeUoViWxCzTyBM"

const example = {
  id: WorkerId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  name: "Office, rack 2",
  labels: ["office", "gpu"],
  token_prefix: "pwk_Zk3vT9qL",
  status: "online",
  last_seen_at: "2026-01-31T09:30:00.000Z",
  version: "0.1.0",
  host: "rack2.office.example.com",
  running: 2,
  slots: 16,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z"
} as const

/** An agent that a user runs where the service cannot reach. */
export const Worker = Schema.Struct(fields).annotate({ identifier: "Worker", examples: [example] })
export type Worker = typeof Worker.Type

export const WorkerPage = Page("WorkerPage", Worker)

/** The answer of the create and rotate endpoints. No other answer contains the token. */
export const CreatedWorker = Schema.Struct({
  ...fields,
  token: secret("worker_token", {
    description: "The token itself. It is shown in this answer and never again.",
    examples: [exampleToken]
  })
}).annotate({
  identifier: "CreatedWorker",
  description: "The only answer that carries the token. Keep it now; it cannot be shown again."
})
export type CreatedWorker = typeof CreatedWorker.Type

export const maxWorkerNameLength = 100

const name = label(maxWorkerNameLength, {
  description: "The name for people.",
  examples: ["Office, rack 2"]
})

export const WorkerInput = Schema.Struct({
  name,
  labels: Schema.optionalKey(
    WorkerLabels.annotate({
      description: "What the worker offers, by which tasks choose it. None when absent."
    })
  )
}).annotate({
  identifier: "WorkerInput",
  examples: [{ name: "Office, rack 2", labels: ["office", "gpu"] }]
})
export type WorkerInput = typeof WorkerInput.Type

export const WorkerUpdate = Schema.Struct({
  name: Schema.optionalKey(name),
  labels: Schema.optionalKey(WorkerLabels)
}).annotate({
  identifier: "WorkerUpdate",
  description: "Any of the fields. Absent fields keep their values.",
  examples: [{ labels: ["office"] }]
})
export type WorkerUpdate = typeof WorkerUpdate.Type

export const LeakedWorkerToken = Schema.Struct({
  token: secret(
    "worker_token",
    { description: "The token that was found.", examples: [exampleToken] },
    Schema.String.check(Schema.isMaxLength(512))
  )
}).annotate({ identifier: "LeakedWorkerToken" })

export const WorkerRotation = Schema.Struct({
  grace_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 })).annotate({
      description: "For how long the old token still works. 0 when absent.",
      examples: [3600]
    })
  )
}).annotate({ identifier: "WorkerRotation" })
