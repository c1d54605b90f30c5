import { Schema } from "effect"

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

/** These describe the connection, which belongs to the service, and not the message. */
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
 * The receiver trusts these to come from the service. With an Idempotency-Key of the user's, every
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

/** What is wrong with one header, if anything. `name` may be written in any case. */
const headerProblem = (name: string, value: string): string | undefined => {
  const lowerCase = name.toLowerCase()
  if (!token.test(name)) return "must have a name that is a valid HTTP token"
  if (connectionHeaders.has(lowerCase) || lowerCase.startsWith("proxy-")) {
    return "belongs to the connection and cannot be set"
  }
  if (isOfService(lowerCase)) return "is set by the service"
  if (!fieldValue.test(value)) return "must hold only printable ASCII characters"
  return undefined
}

/** What is wrong with all headers of a call together. `path` names the header at fault. */
export const headersProblems = (
  headers: Readonly<Record<string, string>>
): ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly issue: string }> => {
  const entries = Object.entries(headers)
  if (entries.length > maxHeaders) {
    return [{ path: [], issue: `at most ${maxHeaders} headers are allowed` }]
  }
  const problems: Array<{ readonly path: ReadonlyArray<string>; readonly issue: string }> = []
  const seen = new Set<string>()
  let size = 0
  for (const [name, value] of entries) {
    const lowerCase = name.toLowerCase()
    const problem = seen.has(lowerCase)
      ? "is given twice: header names are case-insensitive"
      : headerProblem(name, value)
    if (problem !== undefined) problems.push({ path: [name], issue: problem })
    seen.add(lowerCase)
    size += name.length + value.length
  }
  if (size > maxHeaderBytes) {
    problems.push({ path: [], issue: `all headers together must fit ${maxHeaderBytes} bytes` })
  }
  return problems
}

/** The headers of an outgoing call, with names as they were written. */
export const CallHeaders = Schema.Record(Schema.String, Schema.String)
  .check(
    Schema.makeFilter(headersProblems, {
      expected: "headers that a call may set",
      toJsonSchema: () => ({ maxProperties: maxHeaders })
    })
  )
  .annotate({ examples: [{ authorization: "Bearer 3f9c...", "x-environment": "production" }] })
