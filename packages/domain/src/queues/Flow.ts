import { Result, Schema } from "effect"
import { positionText, parseTemplate, type Reference, referencesOf } from "../calls/Template.ts"
import { optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { text } from "../shared/Text.ts"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { missingLimitIssue, queueLimits } from "./Queue.ts"

/** The maximum length of a key, both as written and after its references are replaced by values. */
export const maxFlowKeyLength = 255

/** Returns true if the value of a reference is known when a run is added to its flow. */
const isKnownWhenAdded = (reference: Reference): boolean =>
  reference.root === "input" ||
  reference.root === "task" ||
  (reference.root === "run" && reference.field === "id")

/** Returns the problems with the references in a flow's key. */
export const flowKeyProblems = (key: string): ReadonlyArray<string> => {
  const template = parseTemplate(key)
  if (Result.isFailure(template)) return template.failure
  const unknown = referencesOf(template.success).find((one) => !isKnownWhenAdded(one))
  return unknown === undefined
    ? []
    : [
        `refers to {{ ${unknown.text} }} ${positionText(unknown.at)}, but the key of a flow can only use ` +
          "{{ input }}, {{ task.name }}, {{ task.key }} and {{ run.id }}"
      ]
}

const FlowKey = text({ min: 1, max: maxFlowKeyLength }).check(
  Schema.makeFilter((key) => flowKeyProblems(key), {
    expected: "a text with known references",
    toJsonSchema: () => ({ minLength: 1, maxLength: maxFlowKeyLength })
  })
)

const descriptions = {
  key:
    "Runs with the same key share the limits, even if they belong to different tasks. The key can use `{{ input }}` and " +
    "values in it, `{{ task.name }}`, `{{ task.key }}` and `{{ run.id }}`, which are filled in when the run is " +
    "added. A missing value becomes an empty string. At most 255 characters; further characters are ignored.",
  fifo:
    "Whether a run keeps its slot while it waits for another attempt, so that no later run overtakes " +
    "it. Needs a `max_concurrency` of 1."
}

const exampleKey = "customer:{{ input.customer }}"

interface Fifo {
  readonly fifo?: boolean
  readonly max_concurrency?: number | null
}

const fifoNeedsOne: FieldProblem = {
  path: ["fifo"],
  code: "invalid",
  problem: "needs a max_concurrency of 1"
}

/**
 * Requires at least one limit. The OpenAPI document omits this rule, because with it the generated
 * types of clients would not let them send a response back.
 */
const hasLimit = Schema.makeFilter(missingLimitIssue, { toJsonSchema: () => ({}) })

const fifoRequiresOne = Schema.makeFilter<Fifo>(
  ({ fifo = false, max_concurrency = null }) =>
    fifo && max_concurrency !== 1 ? filterIssue(fifoNeedsOne) : undefined,
  { toJsonSchema: () => ({}) }
)

export const flowDefaults = { max_concurrency: null, rate_per_second: null, fifo: false } as const

export const FlowInput = Schema.Struct({
  key: FlowKey.annotate({ description: descriptions.key, examples: [exampleKey] }),
  max_concurrency: optionalWithDefault("No limit", queueLimits.max_concurrency),
  rate_per_second: optionalWithDefault("No limit", queueLimits.rate_per_second),
  fifo: optionalWithDefault("false", Schema.Boolean.annotate({ description: descriptions.fifo }))
})
  .check(hasLimit, fifoRequiresOne)
  .annotate({
    identifier: "FlowInput",
    description: "Give `max_concurrency`, `rate_per_second` or both.",
    examples: [{ key: exampleKey, max_concurrency: 1 }]
  })
export type FlowInput = typeof FlowInput.Type

/** A task's flow, as stored and shown. */
export const Flow = Schema.Struct({
  key: Schema.String.annotate({
    description: "The key, with its references.",
    examples: [exampleKey]
  }),
  ...queueLimits,
  fifo: Schema.Boolean.annotate({ description: descriptions.fifo })
}).annotate({
  identifier: "Flow",
  examples: [{ key: exampleKey, ...flowDefaults, max_concurrency: 1 }]
})
export type Flow = typeof Flow.Type
