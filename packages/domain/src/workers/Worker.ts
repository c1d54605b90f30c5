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
    "`never_seen`: the agent has never started. `offline`: the agent has stopped, or has sent nothing " +
    "for 15 seconds. `paused`: the worker gets no runs, whether or not its agent is running."
})
export type WorkerStatus = typeof WorkerStatus.Type

const fields = {
  id: WorkerId,
  name: Schema.String.annotate({
    description: "The display name.",
    examples: ["Office, rack 2"]
  }),
  labels: Schema.Array(Schema.String).annotate({
    description: "The labels by which tasks choose the worker.",
    examples: [["office", "gpu"]]
  }),
  token_prefix: Schema.String.annotate({
    description: "The first 12 characters of the token, to identify it in lists.",
    examples: ["pwk_Zk3vT9qL"]
  }),
  status: WorkerStatus,
  last_seen_at: Schema.NullOr(Timestamp).annotate({
    description: "When the agent last sent a request. Null if never."
  }),
  version: Schema.NullOr(Schema.String).annotate({
    description: "The version of the agent. Null until the agent starts.",
    examples: ["0.1.0"]
  }),
  host: Schema.NullOr(Schema.String).annotate({
    description: "The name of the machine, as the agent reports it.",
    examples: ["rack2.office.example.com"]
  }),
  running: Schema.Int.annotate({ description: "Number of runs in progress." }),
  slots: Schema.NullOr(Schema.Int).annotate({
    description: "Number of calls that the agent makes at the same time.",
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

/** A worker, whose agent runs in a network that the service cannot reach. */
export const Worker = Schema.Struct(fields).annotate({ identifier: "Worker", examples: [example] })
export type Worker = typeof Worker.Type

export const WorkerPage = Page("WorkerPage", Worker)

export const CreatedWorker = Schema.Struct({
  ...fields,
  token: secret("worker_token", {
    description: "The token. Only this response contains it.",
    examples: [exampleToken]
  })
}).annotate({
  identifier: "CreatedWorker",
  description: "Only this response contains the token. Store it now; it cannot be shown again."
})
export type CreatedWorker = typeof CreatedWorker.Type

export const maxWorkerNameLength = 100

const name = label(maxWorkerNameLength, {
  description: "The display name.",
  examples: ["Office, rack 2"]
})

export const WorkerInput = Schema.Struct({
  name,
  labels: Schema.optionalKey(
    WorkerLabels.annotate({
      description: "The labels by which tasks choose the worker. Defaults to none."
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
  description: "The fields to change. Absent fields keep their values.",
  examples: [{ labels: ["office"] }]
})
export type WorkerUpdate = typeof WorkerUpdate.Type

export const LeakedWorkerToken = Schema.Struct({
  token: secret(
    "worker_token",
    { description: "The leaked token.", examples: [exampleToken] },
    Schema.String.check(Schema.isMaxLength(512))
  )
}).annotate({ identifier: "LeakedWorkerToken" })

export const WorkerTokenRotation = Schema.Struct({
  grace_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 })).annotate({
      description: "Number of seconds for which the old token still works. Defaults to 0.",
      examples: [3600]
    })
  )
}).annotate({ identifier: "WorkerTokenRotation" })
