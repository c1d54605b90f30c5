import { Schema } from "effect"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { isMaskedHeader, mask } from "./credentialHeaders.ts"

const maxHeaders = 50

/** The maximum size of all headers. Many servers, including this one, reject more than 16 KiB. */
const maxHeaderBytes = 16 * 1024

/** Matches a header's name: a `token` in RFC 9110. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/**
 * Matches a header's value: printable ASCII, space and tab. CR and LF would inject headers.
 * Non-ASCII characters have no agreed encoding in headers and would arrive garbled.
 */
const fieldValue = /^[\t\x20-\x7e]*$/

/** Headers that describe the connection, which the service controls, rather than the message. */
const connectionHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/**
 * Headers that only the service is allowed to set, because recipients trust that the service has
 * set them. With a user-defined Idempotency-Key, every execution after the first would look like a
 * repeat. `user-agent`, `content-type` and `accept-encoding` are only defaults and can be
 * overridden.
 */
const serviceHeaders = new Set([
  "idempotency-key",
  "scheduling-complete-url",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp"
])

const isServiceHeader = (name: string): boolean =>
  serviceHeaders.has(name) || name.startsWith("x-scheduling-")

/** Returns the problem with a header, if any. `name` is case-insensitive. */
const headerProblem = (name: string, value: string): string | undefined => {
  const lowerCase = name.toLowerCase()
  if (!token.test(name)) return "is not a valid header name"
  if (connectionHeaders.has(lowerCase) || lowerCase.startsWith("proxy-")) {
    return "is set by the HTTP connection and must be left out"
  }
  if (isServiceHeader(lowerCase)) return "is set by the service and must be left out"
  if (!fieldValue.test(value)) return "must contain only printable ASCII characters"
  return undefined
}

/** Returns the problems with a call's headers. */
export const headersProblems = (
  headers: Readonly<Record<string, string>>
): ReadonlyArray<FieldProblem> => {
  const entries = Object.entries(headers)
  if (entries.length > maxHeaders) {
    return [{ path: [], code: "too_many", problem: `must have at most ${maxHeaders} headers` }]
  }
  const problems: Array<FieldProblem> = []
  const seen = new Set<string>()
  let size = 0
  for (const [name, value] of entries) {
    const lowerCase = name.toLowerCase()
    if (seen.has(lowerCase)) {
      const problem = "is a duplicate; header names are case-insensitive"
      problems.push({ path: [name], code: "duplicate", problem })
    } else {
      const problem = headerProblem(name, value)
      if (problem !== undefined) problems.push({ path: [name], code: "invalid", problem })
    }
    seen.add(lowerCase)
    size += name.length + value.length
  }
  if (size > maxHeaderBytes) {
    const problem = `must have at most ${maxHeaderBytes} bytes in all`
    problems.push({ path: [], code: "too_long", problem })
  }
  return problems
}

/**
 * Returns the problems with a request's headers, in which the mask represents the stored
 * credential.
 */
const givenProblems = (headers: Readonly<Record<string, string>>): ReadonlyArray<FieldProblem> =>
  headersProblems(
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        isMaskedHeader(name, value) ? "" : value
      ])
    )
  )

/** A call's headers. Names keep their letter case. */
export const CallHeaders = Schema.Record(Schema.String, Schema.String)
  .check(
    Schema.makeFilter((headers) => givenProblems(headers).map(filterIssue), {
      expected: "headers that a call may set",
      toJsonSchema: () => ({ maxProperties: maxHeaders })
    })
  )
  .annotate({ examples: [{ authorization: "Bearer 3f9c...", "x-environment": "production" }] })

/**
 * The maximum number of changes in a request, which is enough to remove all of a call's headers and
 * set as many new ones.
 */
const maxChanges = 2 * maxHeaders

const changesProblems = (
  changes: Readonly<Record<string, string | null>>
): ReadonlyArray<FieldProblem> =>
  Object.keys(changes).length > maxChanges
    ? [{ path: [], code: "too_many", problem: `must change at most ${maxChanges} headers` }]
    : givenProblems(mergedHeaders({}, changes))

/** Header changes: null removes a header, and absent headers are unchanged. */
export const CallHeadersUpdate = Schema.Record(Schema.String, Schema.NullOr(Schema.String))
  .check(
    Schema.makeFilter((changes) => changesProblems(changes).map(filterIssue), {
      expected: "headers that a call may set",
      toJsonSchema: () => ({ maxProperties: maxChanges })
    })
  )
  .annotate({
    description:
      "Headers to set. Null removes a header, and absent headers are unchanged. " +
      `A credential sent as \`${mask}\` keeps its stored value.`,
    examples: [{ authorization: "Bearer 3f9c...", "x-environment": null }]
  })

/** Applies header changes. Names are matched case-insensitively. */
export const mergedHeaders = (
  headers: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>
): Readonly<Record<string, string>> => {
  const changed = new Set(Object.keys(changes).map((name) => name.toLowerCase()))
  const kept = Object.entries(headers).filter(([name]) => !changed.has(name.toLowerCase()))
  const set = Object.entries(changes).filter(
    (entry): entry is [string, string] => entry[1] !== null
  )
  return Object.fromEntries([...kept, ...set])
}
