import { Schema, Struct } from "effect"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { QueueId, WorkspaceId } from "../shared/Ids.ts"
import { keyFields, keyInput } from "../shared/requests/CallerChosenKey.ts"
import { ListPage, listQuery } from "../shared/requests/ListQuery.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { versionField, versionInput } from "../shared/requests/Version.ts"
import { tagsField, tagsInput } from "../shared/Tags.ts"
import {
  patchFields,
  optionalWithDefault,
  optionalWithNote
} from "../shared/requests/optionalWithDefault.ts"
import { label } from "../shared/Text.ts"
import { createdAt, Timestamp, updatedAt } from "../shared/Timestamp.ts"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"

const maxConcurrency = 1_000
const minRatePerSecond = 0.0001
const maxRatePerSecond = 1_000

/** A queue's runs are counted only up to this number. */
export const maxCountedRuns = 10_000

/** The limits of a queue, or of a flow. */
export const queueLimits = {
  max_concurrency: Schema.NullOr(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxConcurrency }))
  ).annotate({
    description: "The maximum number of runs in progress. Null means no limit.",
    examples: [2]
  }),
  rate_per_second: Schema.NullOr(
    Schema.Finite.check(Schema.isBetween({ minimum: minRatePerSecond, maximum: maxRatePerSecond }))
  ).annotate({
    description:
      "The maximum number of runs that start per second. 0.2 is one every 5 seconds. Null means no limit.",
    examples: [0.2]
  })
}

const name = label(100, { description: "The display name.", examples: ["Billing server"] })

export const missingLimitProblem: FieldProblem = {
  path: ["max_concurrency"],
  code: "required",
  problem: "or rate_per_second is required"
}

interface Limited {
  readonly max_concurrency?: number | null
  readonly rate_per_second?: number | null
}

/** Returns the JSON Schema for a queue that has at least the given limit. */
const limited = (limit: keyof typeof queueLimits, type: "integer" | "number") => ({
  type: "object",
  properties: { [limit]: { type, description: "The limit." } },
  required: [limit]
})

/** Returns the issue with a queue or a flow that has no limit. */
export const missingLimitIssue = ({ max_concurrency = null, rate_per_second = null }: Limited) =>
  max_concurrency === null && rate_per_second === null
    ? filterIssue(missingLimitProblem)
    : undefined

const atLeastOne = Schema.makeFilter<Limited>(missingLimitIssue, {
  toJsonSchema: () => ({
    anyOf: [limited("max_concurrency", "integer"), limited("rate_per_second", "number")]
  })
})

const pausedInput = {
  paused: optionalWithNote(
    "Defaults to false for a new queue. An existing queue is unchanged.",
    Schema.Boolean.annotate({
      description: "While true, no run of the queue starts."
    })
  )
}

const input = Schema.Struct({
  name,
  ...tagsInput,
  max_concurrency: optionalWithDefault("No limit", queueLimits.max_concurrency),
  rate_per_second: optionalWithDefault("No limit", queueLimits.rate_per_second)
})

const inputWithKey = input.mapFields(Struct.assign({ ...keyInput, ...pausedInput }))

export const queueDefaults = { tags: [], max_concurrency: null, rate_per_second: null } as const

const exampleDefinition = { name: "Billing server", max_concurrency: 2 }

export const QueueInput = inputWithKey.check(atLeastOne).annotate({
  identifier: "QueueInput",
  description: "Give `max_concurrency`, `rate_per_second` or both.",
  examples: [exampleDefinition]
})
export type QueueInput = typeof QueueInput.Type

export const QueueUpdate = inputWithKey
  .mapFields(patchFields)
  .mapFields(Struct.assign(versionInput))
  .annotate({
    identifier: "QueueUpdate",
    description:
      "The fields to change. Absent fields keep their values. At least one limit must remain.",
    examples: [{ rate_per_second: 0.5 }]
  })
export type QueueUpdate = typeof QueueUpdate.Type

export const Queue = Schema.Struct({
  id: QueueId,
  workspace_id: WorkspaceId,
  ...keyFields,
  ...versionField,
  name: Schema.String.annotate({
    description: "The display name.",
    examples: ["Billing server"]
  }),
  ...tagsField,
  ...queueLimits,
  paused: Schema.Boolean.annotate({
    description: "Whether the queue is paused. While paused, no run of the queue starts."
  }),
  running: Schema.Int.annotate({
    description:
      "The number of runs that hold a slot: runs in progress or about to start. If a node is lost, its slots count until their calls must have ended."
  }),
  waiting: Schema.Int.annotate({
    description: `The number of runs that are due and wait for a slot, counted up to ${maxCountedRuns}.`
  }),
  waiting_since: Schema.NullOr(Timestamp).annotate({
    description:
      "When the run that has waited longest for a slot was due. If this time is long ago, the queue is paused, " +
      "blocked or too slow. Null if no run waits.",
    examples: ["2026-01-31T09:12:00.000Z"]
  }),
  ...authorFields,
  created_at: createdAt,
  updated_at: updatedAt
}).annotate({
  identifier: "Queue",
  examples: [
    {
      id: QueueId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      key: null,
      version: 1,
      name: "Billing server",
      tags: ["billing"],
      max_concurrency: 2,
      rate_per_second: null,
      paused: false,
      running: 2,
      waiting: 348,
      waiting_since: "2026-01-31T09:12:00.000Z",
      ...exampleAuthors,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type Queue = typeof Queue.Type

export const QueueDefinition = Schema.Struct(
  putFields({ ...input.fields, ...pausedInput, ...versionInput }, Queue)
)
  .check(atLeastOne)
  .annotate({
    identifier: "QueueDefinition",
    description:
      "A queue whose key is in the path. An absent limit means no limit. Fields that only responses have are " +
      "ignored.",
    examples: [exampleDefinition]
  })
export type QueueDefinition = typeof QueueDefinition.Type

export const QueueQuery = {
  ...listQuery(["-created_at", "created_at", "name", "-name"]),
  paused: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Returns only queues that are paused, or only queues that are not."
    })
  )
}

export const QueuePage = ListPage("QueuePage", Queue)
