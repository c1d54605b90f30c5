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
    "What kind of problem it is, for programs. `too_short` and `too_long` count characters or " +
    "bytes of a text, `too_few` and `too_many` items of a list. `not_found`: the value names a " +
    "record that this workspace does not have. `conflict` and `quota_exceeded` are about a record of a " +
    "document, and what a request of its own would have been answered with. `invalid`: a rule that no other code describes.",
  examples: ["unknown_value"]
})

/** A problem of a request, with the path of the field. */
export const ValidationIssue = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])).annotate({
    description: "Where in the request it is: field names, and array indexes counted from 0."
  }),
  code: IssueCode,
  message: Schema.String.annotate({ description: "A sentence for people, which may be reworded." })
}).annotate({
  identifier: "ValidationIssue",
  examples: [{ path: ["name"], code: "required", message: "name is required." }]
})
export type ValidationIssue = typeof ValidationIssue.Type

/**
 * An issue with the value at a path. `problem` continues a sentence that begins with the name of the
 * field, such as "must be after starts_at". `whole` is the name of the value at an empty path.
 */
export const issueAt = (
  path: ValidationIssue["path"],
  code: IssueCode,
  problem: string,
  whole = "The request"
): ValidationIssue => ({ path, code, message: sentence(`${fieldAt(path, whole)} ${problem}`) })

const sentence = (text: string) => (text.endsWith("?") ? text : `${text}.`)

const plainName = /^[\w-]+$/

/** `steps[0].headers.authorization` */
const fieldAt = (path: ValidationIssue["path"], whole: string): string => {
  let name = ""
  for (const part of path) {
    if (typeof part === "number") name += `[${part}]`
    else if (!plainName.test(part)) name += `[${shortened(JSON.stringify(part))}]`
    else name += name === "" ? shortened(part) : `.${shortened(part)}`
  }
  return name === "" ? whole : name
}

/** Clients choose the names of unknown fields, which may be as long as a body. */
const shortened = (name: string): string => (name.length > 60 ? `${name.slice(0, 60)}…` : name)

/** A problem of one field of a value that has more than one field. */
export interface FieldProblem {
  readonly path: ReadonlyArray<string | number>
  readonly code: IssueCode
  readonly problem: string
}

/** The result of a filter that found a problem. */
export const filterIssue = ({ code, path, problem }: FieldProblem) => ({
  path,
  issue: new SchemaIssue.InvalidValue({ code, message: problem })
})
