import { ValidationError } from "@scheduling/sdk"

/** What is wrong with a value: its path begins with the name of the field. */
export interface Issue {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

/** Thrown while a form is sent: what is wrong with one of its fields. */
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
