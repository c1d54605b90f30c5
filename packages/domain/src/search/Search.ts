import { Schema } from "effect"
import { ExecutionKind } from "../executions/Execution.ts"
import { MonitorKind } from "../monitors/Monitor.ts"
import { RecordId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { label } from "../shared/Text.ts"

export const defaultSearchLimit = 20

/** The maximum number of words in a search. More words would hardly narrow the results. */
export const maxSearchWords = 8

/**
 * The maximum number of matches that are ranked. If there are more, only the newest are ranked, and
 * those that have the whole search text as a name, key, tag or target.
 */
export const maxRankedMatches = 1_000

export const SearchQuery = {
  q: label(200, {
    description:
      `The search text: up to ${maxSearchWords} words, all of which must occur in a name, a key, a tag, a URL, ` +
      "a label or a host. Case-insensitive. An id finds its record.",
    examples: ["nightly report"]
  }),
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 })).annotate({
      description: "The maximum number of results.",
      default: defaultSearchLimit
    })
  )
}

/** Kinds of search results besides tasks and monitors. */
const otherKinds = [
  "queue",
  "channel",
  "escalation_policy",
  "maintenance_window",
  "status_page",
  "worker",
  "secret",
  "execution",
  "incident"
] as const

export const SearchResultKind = oneOf(
  [...ExecutionKind.literals, ...MonitorKind.literals, ...otherKinds],
  {
    identifier: "SearchResultKind",
    description: "The kind of the record that was found."
  }
)
export type SearchResultKind = typeof SearchResultKind.Type

export const SearchResult = Schema.Struct({
  kind: SearchResultKind,
  id: RecordId,
  name: Schema.NullOr(Schema.String).annotate({
    description:
      "The name of the record. For an execution, the name of its task; for an incident, the name of its monitor; for a status page, its title.",
    examples: ["Nightly report"]
  }),
  key: Schema.NullOr(Schema.String).annotate({
    description: "The key of the record, or the slug of a status page. Null if there is none.",
    examples: ["nightly-report"]
  }),
  target: Schema.NullOr(Schema.String).annotate({
    description:
      "The URL that a task calls, the URLs of a chain's steps, or the target of a monitor.",
    examples: ["https://api.example.com/reports"]
  })
}).annotate({ identifier: "SearchResult", description: "A record that a search found." })
export type SearchResult = typeof SearchResult.Type

export const SearchResults = Schema.Struct({
  data: Schema.Array(SearchResult).annotate({
    description: `The results, best match first. If there are more than ${maxRankedMatches.toLocaleString("en")} matches, only the newest are ranked, and those with a name, key, tag, URL or host that is exactly the search text.`
  })
}).annotate({ identifier: "SearchResults", description: "The results of a search." })
export type SearchResults = typeof SearchResults.Type
