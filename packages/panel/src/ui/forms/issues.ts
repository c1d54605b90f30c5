import { ValidationError } from "@scheduling/sdk"

/** A problem with a value. The path starts with the field's name. */
export interface Issue {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

/** Thrown by a form to show a problem below one of its fields. */
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
export const remainingIssues = (
  issues: ReadonlyArray<Issue>,
  before: object,
  after: object
): ReadonlyArray<Issue> => {
  const left = issues.filter(({ path }) => valueAt(before, path) === valueAt(after, path))
  return left.length === issues.length ? issues : left
}

/**
 * Returns the value at the path, or the last value that exists along it. A list in the API can be a
 * single string in the form.
 */
const valueAt = (values: object, path: Issue["path"]): unknown => {
  let value: unknown = values
  for (const key of path) {
    if (typeof value !== "object" || value === null || !(key in value)) break
    value = (value as Readonly<Record<string | number, unknown>>)[key]
  }
  // An issue that does not belong to a field stays until the form is submitted again.
  return value === values ? undefined : value
}
