import { Schema } from "effect"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { isMasked, mask } from "./credentialHeaders.ts"

const maxHeaders = 50

/** Servers commonly refuse more than 16 KiB of request headers, ours included. */
const maxHeaderBytes = 16 * 1024

/** RFC 9110 `token`. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/**
 * Printable ASCII, space and tab. CR and LF would add headers. Characters beyond ASCII have no
 * agreed encoding in a header and would arrive garbled.
 */
const fieldValue = /^[\t\x20-\x7e]*$/

/** Headers that describe the connection, which belongs to the service, and not the message. */
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
 * Headers that receivers trust to come from the service. With an Idempotency-Key of the user, every
 * execution after the first would look like a repeat. `user-agent`, `content-type` and
 * `accept-encoding` are only defaults and may be overridden.
 */
const serviceHeaders = new Set([
  "idempotency-key",
  "scheduling-complete-url",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp"
])

const isOfService = (name: string): boolean =>
  serviceHeaders.has(name) || name.startsWith("x-scheduling-")

/** The problem of one header, if any. `name` may be written in any case. */
const headerProblem = (name: string, value: string): string | undefined => {
  const lowerCase = name.toLowerCase()
  if (!token.test(name)) return "is not a valid header name"
  if (connectionHeaders.has(lowerCase) || lowerCase.startsWith("proxy-")) {
    return "is set by the HTTP connection and must be left out"
  }
  if (isOfService(lowerCase)) return "is set by the service and must be left out"
  if (!fieldValue.test(value)) return "must contain only printable ASCII characters"
  return undefined
}

/** The problems of the headers of a call. */
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
      const problem = "is given twice, because the case of letters in header names does not count"
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

/** The problems of the headers of a request, in which the mask stands for the stored credential. */
const givenProblems = (headers: Readonly<Record<string, string>>): ReadonlyArray<FieldProblem> =>
  headersProblems(
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, isMasked(name, value) ? "" : value])
    )
  )

/** The headers of an outgoing call, with names as they were written. */
export const CallHeaders = Schema.Record(Schema.String, Schema.String)
  .check(
    Schema.makeFilter((headers) => givenProblems(headers).map(filterIssue), {
      expected: "headers that a call may set",
      toJsonSchema: () => ({ maxProperties: maxHeaders })
    })
  )
  .annotate({ examples: [{ authorization: "Bearer 3f9c...", "x-environment": "production" }] })

/** Enough to remove every header that a call may have, and to set as many others. */
const maxChanges = 2 * maxHeaders

const changesProblems = (
  changes: Readonly<Record<string, string | null>>
): ReadonlyArray<FieldProblem> =>
  Object.keys(changes).length > maxChanges
    ? [{ path: [], code: "too_many", problem: `must change at most ${maxChanges} headers` }]
    : givenProblems(mergedHeaders({}, changes))

/** Changes of headers: null removes one, and what is absent stays. */
export const CallHeadersUpdate = Schema.Record(Schema.String, Schema.NullOr(Schema.String))
  .check(
    Schema.makeFilter((changes) => changesProblems(changes).map(filterIssue), {
      expected: "headers that a call may set",
      toJsonSchema: () => ({ maxProperties: maxChanges })
    })
  )
  .annotate({
    description:
      "Headers to set. Null removes a header, and headers that are absent here stay as they are. " +
      `A credential sent as \`${mask}\` stays too.`,
    examples: [{ authorization: "Bearer 3f9c...", "x-environment": null }]
  })

/** The headers after a change. A name replaces the same name in any letter case. */
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
