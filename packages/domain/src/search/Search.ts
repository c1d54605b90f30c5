import { Schema } from "effect"
import { ExecutionKind } from "../executions/Execution.ts"
import { MonitorKind } from "../monitors/Monitor.ts"
import { RecordId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { label } from "../shared/Text.ts"

export const defaultSearchLimit = 20

/** More words do not make a search more precise. */
export const maxSearchWords = 8

export const SearchQuery = {
  q: label(200, {
    description:
      `What to look for: up to ${maxSearchWords} words that must all occur, anywhere in a name, a key, a tag, a URL, ` +
      "a label or a host. Letter case does not count. An id finds its record.",
    examples: ["nightly report"]
  }),
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 })).annotate({
      description: "How many to show.",
      default: defaultSearchLimit
    })
  )
}

/** What can be found besides tasks and monitors. */
const otherKinds = ["queue", "channel", "worker", "secret", "execution", "incident"] as const

export const FoundKind = oneOf(
  [...ExecutionKind.literals, ...MonitorKind.literals, ...otherKinds],
  {
    identifier: "FoundKind",
    description: "What was found: the kind of a task or a monitor, or another noun."
  }
)
export type FoundKind = typeof FoundKind.Type

export const FoundRecord = Schema.Struct({
  kind: FoundKind,
  id: RecordId,
  name: Schema.NullOr(Schema.String).annotate({
    description:
      "Its name. For an execution that of its task, and for an incident that of its monitor.",
    examples: ["Nightly report"]
  }),
  key: Schema.NullOr(Schema.String).annotate({
    description: "Its key, if it has one.",
    examples: ["nightly-report"]
  }),
  target: Schema.NullOr(Schema.String).annotate({
    description:
      "The URL that a task calls, the URLs of the steps of a chain, or what a monitor watches.",
    examples: ["https://api.example.com/reports"]
  })
}).annotate({ identifier: "FoundRecord", description: "A record that a search found." })
export type FoundRecord = typeof FoundRecord.Type

export const SearchResults = Schema.Struct({
  data: Schema.Array(FoundRecord).annotate({ description: "The best match comes first." })
}).annotate({ identifier: "SearchResults", description: "What a search found." })
export type SearchResults = typeof SearchResults.Type
