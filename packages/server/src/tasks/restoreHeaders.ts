import { headersProblems } from "@scheduling/domain/calls/CallHeaders"
import {
  isMaskedHeader,
  maskWithoutStoredValueProblem,
  restoredHeaders
} from "@scheduling/domain/calls/credentialHeaders"
import { type ChainStepInput, isCallStep, stepsProblems } from "@scheduling/domain/chains/ChainStep"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { type FieldProblem, issueAt } from "@scheduling/domain/shared/ValidationIssue"
import { Effect } from "effect"
import type { StoredStep } from "../engine/index.ts"

type Headers = Readonly<Record<string, string>>

/** A row's fields that contain headers. */
export interface StoredHeaders {
  readonly headers?: Headers
  readonly steps?: ReadonlyArray<StoredStep>
}

/** A definition's fields that contain headers. */
export interface GivenHeaders {
  readonly headers?: Headers | undefined
  readonly steps?: ReadonlyArray<ChainStepInput> | undefined
}

/**
 * Replaces masked values in the headers of a definition or a change with the stored values. Fails
 * if there is no stored value, or if the restored headers exceed a call's limits.
 */
export const restoreHeaders = <Given extends GivenHeaders>(
  given: Given,
  stored: StoredHeaders = {}
): Effect.Effect<Given, ValidationFailed> => {
  const { headers, steps } = given
  const isPlain =
    !holdsMask(headers) && !steps?.some((step) => isCallStep(step) && holdsMask(step.headers))
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
  Object.entries(headers).some(([name, value]) => isMaskedHeader(name, value))

const restoredSteps = (
  steps: ReadonlyArray<ChainStepInput>,
  stored: NonNullable<StoredHeaders["steps"]>
): ReadonlyArray<ChainStepInput> => {
  const known = new Map(stored.filter(isCallStep).map(({ headers, name }) => [name, headers]))
  return steps.map((step) =>
    !isCallStep(step) || step.headers === undefined
      ? step
      : { ...step, headers: restoredHeaders(step.headers, known.get(step.name) ?? {}) }
  )
}

const problemsOf = ({ headers = {}, steps = [] }: GivenHeaders): ReadonlyArray<FieldProblem> => {
  const inHeaders = [
    ...prefixPath(["headers"], callProblems(headers)),
    ...steps.flatMap((step, index) =>
      isCallStep(step)
        ? prefixPath(["steps", index, "headers"], callProblems(step.headers ?? {}))
        : []
    )
  ]
  // A restored header may reference a step that was removed or that now comes after the header's
  // own step.
  return inHeaders.length > 0 ? inHeaders : prefixPath(["steps"], stepsProblems(steps))
}

const callProblems = (headers: Headers): ReadonlyArray<FieldProblem> => {
  const masked = Object.entries(headers).filter(([name, value]) => isMaskedHeader(name, value))
  return masked.length === 0
    ? headersProblems(headers)
    : masked.map(([name]) => ({
        path: [name],
        code: "invalid",
        problem: `${maskWithoutStoredValueProblem}, or leave the header out`
      }))
}

const prefixPath = (
  path: ReadonlyArray<string | number>,
  problems: ReadonlyArray<FieldProblem>
): ReadonlyArray<FieldProblem> => problems.map((one) => ({ ...one, path: [...path, ...one.path] }))
