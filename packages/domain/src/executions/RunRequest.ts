import { Schema } from "effect"

/** The largest input of a run, as JSON. */
export const maxInputBytes = 64 * 1024

/** Any JSON value that a run is started with. Null is the same as none. */
const RunInput = Schema.Json.check(
  Schema.makeFilter((input) => byteLength(JSON.stringify(input)) <= maxInputBytes, {
    expected: "JSON of at most 64 KiB",
    toJsonSchema: () => ({})
  })
)

const byteLength = (text: string): number => new TextEncoder().encode(text).length

/** The body of a request that runs a task by hand. */
export const RunRequest = Schema.Struct({
  input: Schema.optionalKey(
    RunInput.annotate({
      description:
        "Any JSON of at most 64 KiB, which is kept with the execution. The call uses it as " +
        "`{{ input }}` or `{{ input.<key> }}`.",
      examples: [{ date: "2026-01-31" }]
    })
  )
}).annotate({
  identifier: "RunRequest",
  description: "What a run by hand is started with. The body may be left out.",
  examples: [{ input: { date: "2026-01-31" } }]
})
export type RunRequest = typeof RunRequest.Type

/** The input of a run, as executions and chain runs show it. */
export const shownInput = Schema.Json.annotate({
  description: "The input with which the run was started by hand. Null if there was none.",
  examples: [{ date: "2026-01-31" }]
})
