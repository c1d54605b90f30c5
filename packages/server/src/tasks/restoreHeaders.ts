import { headersProblems } from "@scheduling/domain/calls/CallHeaders"
import {
  isMasked,
  nothingStored,
  restoredHeaders
} from "@scheduling/domain/calls/credentialHeaders"
import { type ChainStepInput, stepsProblems } from "@scheduling/domain/chains/Chain"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { type FieldProblem, issueAt } from "@scheduling/domain/shared/ValidationIssue"
import { Effect } from "effect"
import type { StoredStep } from "../engine/index.ts"

type Headers = Readonly<Record<string, string>>

/** The fields of a row that contain headers. */
export interface StoredHeaders {
  readonly headers?: Headers
  readonly steps?: ReadonlyArray<StoredStep>
}

/** The fields of a definition that contain headers. */
export interface GivenHeaders {
  readonly headers?: Headers | undefined
  readonly steps?: ReadonlyArray<ChainStepInput> | undefined
}

/**
 * Replaces the mask in headers of a definition or a change by the stored values. Fails if there is
 * no stored value, or if the restored headers exceed the limits of a call.
 */
export const restoreHeaders = <Given extends GivenHeaders>(
  given: Given,
  stored: StoredHeaders = {}
): Effect.Effect<Given, ValidationFailed> => {
  const { headers, steps } = given
  const isPlain = !holdsMask(headers) && !steps?.some((step) => holdsMask(step.headers))
  if (isPlain) return Effect.succeed(given)
  const restored = {
    ...given,
    ...(headers !== undefined && { headers: restoredHeaders(headers, stored.headers ?? {}) }),
    ...(steps !== undefined && { steps: restoredSteps(steps, stored.steps ?? []) })
  }
  const problems = problemsOf(restored)
  if (problems.length === 0) return Effect.succeed(restored)
  const issues = problems.slice(0, 100).map((one) => issueAt(one.path, one.code, one.problem))
  return Effect.fail(new ValidationFailed({ issues }))
}

const holdsMask = (headers: Headers = {}): boolean =>
  Object.entries(headers).some(([name, value]) => isMasked(name, value))

const restoredSteps = (
  steps: ReadonlyArray<ChainStepInput>,
  stored: NonNullable<StoredHeaders["steps"]>
): ReadonlyArray<ChainStepInput> => {
  const known = new Map(stored.map(({ headers, name }) => [name, headers]))
  return steps.map((step) =>
    step.headers === undefined
      ? step
      : { ...step, headers: restoredHeaders(step.headers, known.get(step.name) ?? {}) }
  )
}

const problemsOf = ({ headers = {}, steps = [] }: GivenHeaders): ReadonlyArray<FieldProblem> => {
  const inHeaders = [
    ...below(["headers"], callProblems(headers)),
    ...steps.flatMap((step, index) =>
      below(["steps", index, "headers"], callProblems(step.headers ?? {}))
    )
  ]
  // A stored value may reference a step that was moved behind it or removed.
  return inHeaders.length > 0 ? inHeaders : below(["steps"], stepsProblems(steps))
}

const callProblems = (headers: Headers): ReadonlyArray<FieldProblem> => {
  const masked = Object.entries(headers).filter(([name, value]) => isMasked(name, value))
  return masked.length === 0
    ? headersProblems(headers)
    : masked.map(([name]) => ({
        path: [name],
        code: "invalid",
        problem: `${nothingStored}, or leave the header out`
      }))
}

const below = (
  path: ReadonlyArray<string | number>,
  problems: ReadonlyArray<FieldProblem>
): ReadonlyArray<FieldProblem> => problems.map((one) => ({ ...one, path: [...path, ...one.path] }))
