import { Schema, SchemaIssue } from "effect"
import { oneOf } from "./oneOf.ts"

export const issueCodes = [
  "required",
  "unknown_field",
  "invalid_type",
  "unknown_value",
  "out_of_range",
  "too_short",
  "too_long",
  "too_few",
  "too_many",
  "invalid_format",
  "duplicate",
  "not_found",
  "conflict",
  "quota_exceeded",
  "invalid"
] as const
export type IssueCode = (typeof issueCodes)[number]

export const IssueCode = oneOf(issueCodes, {
  identifier: "IssueCode",
  description:
    "A machine-readable code for the problem. `too_short` and `too_long` refer to the number of characters or " +
    "bytes of a string, `too_few` and `too_many` to the items of a list. `not_found`: the " +
    "value names a record that does not exist in this workspace. `conflict` and " +
    "`quota_exceeded` refer to a record in a document, and are the error of a separate " +
    "request. `invalid`: any other rule.",
  examples: ["unknown_value"]
})

/** A problem with a request, with the path of the field. */
export const ValidationIssue = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])).annotate({
    description: "The path of the value in the request: field names and zero-based array indexes."
  }),
  code: IssueCode,
  message: Schema.String.annotate({
    description: "A human-readable message. Its wording may change."
  })
}).annotate({
  identifier: "ValidationIssue",
  examples: [{ path: ["name"], code: "required", message: "name is required." }]
})
export type ValidationIssue = typeof ValidationIssue.Type

/**
 * Creates an issue with the value at a path. `problem` continues a sentence that begins with the
 * field name, such as "must be after starts_at". `whole` names the value if the path is empty.
 */
export const issueAt = (
  path: ValidationIssue["path"],
  code: IssueCode,
  problem: string,
  whole = "The request"
): ValidationIssue => ({ path, code, message: sentence(`${fieldAt(path, whole)} ${problem}`) })

const sentence = (text: string) => (text.endsWith("?") ? text : `${text}.`)

const plainName = /^[\w-]+$/

/** Formats a path as `steps[0].headers.authorization`. */
const fieldAt = (path: ValidationIssue["path"], whole: string): string => {
  let name = ""
  for (const part of path) {
    if (typeof part === "number") name += `[${part}]`
    else if (!plainName.test(part)) name += `[${shortened(JSON.stringify(part))}]`
    else name += name === "" ? shortened(part) : `.${shortened(part)}`
  }
  return name === "" ? whole : name
}

/**
 * Truncates a name. Clients choose the names of unknown fields, so a name may be as long as the
 * body.
 */
const shortened = (name: string): string => (name.length > 60 ? `${name.slice(0, 60)}…` : name)

/** A problem with one field of a value. */
export interface FieldProblem {
  readonly path: ReadonlyArray<string | number>
  readonly code: IssueCode
  readonly problem: string
}

/** Converts a problem to the result of a schema filter. */
export const filterIssue = ({ code, path, problem }: FieldProblem) => ({
  path,
  issue: new SchemaIssue.InvalidValue({ code, message: problem })
})
