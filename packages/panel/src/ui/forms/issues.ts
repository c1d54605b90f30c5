import { ValidationError } from "@scheduling/sdk"

/** A problem with a value. The path starts with the name of the field. */
export interface Issue {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

/** Thrown by a form to show a problem at one of its fields. */
export class FieldProblem extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

export const issuesOf = (error: unknown): ReadonlyArray<Issue> =>
  error instanceof ValidationError
    ? error.detail.issues
    : error instanceof FieldProblem
      ? [{ path: [error.field], message: error.message }]
      : []

/** Removes the issues whose values have changed. */
export const issuesLeft = (
  issues: ReadonlyArray<Issue>,
  before: object,
  after: object
): ReadonlyArray<Issue> => {
  const left = issues.filter(({ path }) => valueAt(before, path) === valueAt(after, path))
  return left.length === issues.length ? issues : left
}

/** Follows the path as far as possible. A list in the API may be a single string in the form. */
const valueAt = (values: object, path: Issue["path"]): unknown => {
  let value: unknown = values
  for (const key of path) {
    if (typeof value !== "object" || value === null || !(key in value)) break
    value = (value as Readonly<Record<string | number, unknown>>)[key]
  }
  // An issue that belongs to no field stays until the form is submitted again.
  return value === values ? undefined : value
}
