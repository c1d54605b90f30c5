import { Schema } from "effect"
import { Priority } from "../queues/QueueOptions.ts"

/** The maximum size of a run's input, as JSON. */
export const maxInputBytes = 64 * 1024

/** The input of a run: any JSON value. Null means no input. */
const RunInput = Schema.Json.check(
  Schema.makeFilter((input) => byteLength(JSON.stringify(input)) <= maxInputBytes, {
    expected: "JSON of at most 64 KiB",
    toJsonSchema: () => ({})
  })
)

const byteLength = (text: string): number => new TextEncoder().encode(text).length

/** The body of a request that starts a task manually. */
export const RunRequest = Schema.Struct({
  input: Schema.optionalKey(
    RunInput.annotate({
      description:
        "Any JSON of at most 64 KiB, which is stored with the execution. The call uses it as " +
        "`{{ input }}` or `{{ input.<key> }}`.",
      examples: [{ date: "2026-01-31" }]
    })
  ),
  priority: Schema.optionalKey(
    Priority.annotate({
      description:
        "The priority of this run within its queue or flow, instead of the priority of the task.",
      examples: [50]
    })
  )
}).annotate({
  identifier: "RunRequest",
  description: "The options of a manual run. The body may be omitted.",
  examples: [{ input: { date: "2026-01-31" } }]
})
export type RunRequest = typeof RunRequest.Type

/** A run's input in responses. */
export const runInputField = Schema.Json.annotate({
  description: "The input of a manual run. Null if there was none.",
  examples: [{ date: "2026-01-31" }]
})
