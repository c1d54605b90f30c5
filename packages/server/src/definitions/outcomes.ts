import { InsufficientScope } from "@scheduling/domain/auth/AuthErrors"
import { mask } from "@scheduling/domain/calls/credentialHeaders"
import type {
  AppliedDefinition,
  AppliedDefinitions,
  ChangedField,
  DefinitionFinding
} from "@scheduling/domain/definitions/AppliedDefinitions"
import { type ListedKind, sectionOfKind } from "@scheduling/domain/definitions/DefinitionsDocument"
import type { MonitorKind } from "@scheduling/domain/monitors/Monitor"
import {
  Conflict,
  NotFound,
  QuotaExceeded,
  RateLimited,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import type { ValidationIssue } from "@scheduling/domain/shared/ValidationIssue"
import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { UpsertResult } from "../core/index.ts"
import type { DefinitionFailure } from "../http/index.ts"
import { definitionOf, type DefinitionFields } from "./definitionOf.ts"
import type { KeyedRow } from "./DefinitionsRepo.ts"
import type { DocumentItem } from "./itemsInDocument.ts"

/** The outcome of applying one record in a document. */
export interface DefinitionOutcome {
  readonly applied?: AppliedDefinition
  /** The reasons why the record is rejected. */
  readonly issues?: ReadonlyArray<ValidationIssue>
  /**
   * The record, if its owner must be changed to the document's owner. Undefined if the owner stays
   * the same.
   */
  readonly labelled?: Pick<KeyedRow, "id" | "kind">
}

interface Owners {
  readonly owner: string | null
  /** The record's previous owner. Null if it had none. */
  readonly other: string | null
}

export const outcomeOf = (
  { key, kind, section }: DocumentItem,
  { before, isNew, record }: UpsertResult<object>,
  { other, owner }: Owners
): DefinitionOutcome => {
  const fields = before === undefined ? [] : changesBetween(kind, before, record)
  const id = "id" in record ? String(record.id) : null
  const isLabelled = owner !== null && owner !== other && id !== null
  const changes =
    isLabelled && !isNew ? [...fields, { field: "owner", old: other, new: owner }] : fields
  return {
    applied: {
      section,
      kind: section === "monitors" ? (kind as MonitorKind) : null,
      key,
      id,
      action: isNew ? "create" : changes.length > 0 ? "update" : "unchanged",
      changes
    },
    ...(isLabelled && { labelled: { id, kind: kind as ListedKind } })
  }
}

export const outcomeOfRemoval = ({ id, key, kind }: KeyedRow): DefinitionOutcome => {
  const section = sectionOfKind[kind]
  return {
    applied: {
      section,
      kind: section === "monitors" ? (kind as MonitorKind) : null,
      key,
      id,
      action: "delete",
      changes: []
    }
  }
}

/** Converts a record's error to an outcome, unless the error must stop the whole document. */
export const toRejectedOutcome =
  (path: ReadonlyArray<string | number>) =>
  (
    failure: DefinitionFailure
  ): Effect.Effect<DefinitionOutcome, InsufficientScope | NotFound | RateLimited> =>
    failure instanceof RateLimited ||
    failure instanceof InsufficientScope ||
    isWorkspaceGone(failure)
      ? Effect.fail(failure)
      : Effect.succeed({ issues: issuesOf(failure).map((one) => prefixPath(path, one)) })

const isWorkspaceGone = (failure: DefinitionFailure): failure is NotFound =>
  failure instanceof NotFound && failure.resource === "workspace"

const issuesOf = (
  failure: Exclude<DefinitionFailure, InsufficientScope | RateLimited>
): ReadonlyArray<ValidationIssue> => {
  if (failure instanceof ValidationFailed) return failure.issues
  const { message } = failure
  if (failure instanceof QuotaExceeded) return [{ path: [], code: "quota_exceeded", message }]
  if (failure instanceof NotFound) return [{ path: [], code: "not_found", message }]
  const field = failure instanceof Conflict ? failure.field : null
  return [{ path: field === null ? [] : [field], code: "conflict", message }]
}

const prefixPath = (
  path: ReadonlyArray<string | number>,
  issue: ValidationIssue
): ValidationIssue => ({
  ...issue,
  path: [...path, ...issue.path]
})

/**
 * The maximum length of a value in the list of changes, as JSON. Without a limit, each of a
 * thousand records could add 250 kB to the response.
 */
const maxShown = 2_000

const shownValue = (value: unknown): ChangedField["old"] => {
  const json = JSON.stringify(value ?? null)
  return json.length <= maxShown ? JSON.parse(json) : `${json.slice(0, maxShown)}…`
}

/**
 * Lists the changed fields. If no field differs, a secret has changed that is masked in both
 * versions. The fields with a mask are listed in that case.
 */
const changesBetween = (
  kind: DocumentItem["kind"],
  before: object,
  after: object
): ReadonlyArray<ChangedField> => {
  const old: DefinitionFields = definitionOf(kind, before)
  const now: DefinitionFields = definitionOf(kind, after)
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  const differing = names.filter((name) => !isDeepStrictEqual(old[name], now[name]))
  const changed =
    differing.length > 0
      ? differing
      : names.filter((name) => JSON.stringify(now[name] ?? null).includes(mask))
  return changed.map((field) => ({
    field,
    old: shownValue(old[field]),
    new: shownValue(now[field])
  }))
}

const maxFindings = 100

export const outcomesResponse = (
  dry_run: boolean,
  outcomes: ReadonlyArray<DefinitionOutcome>,
  findings: ReadonlyArray<DefinitionFinding>
): AppliedDefinitions => {
  const applied = outcomes.flatMap((outcome) => outcome.applied ?? [])
  const data = dry_run ? applied.map(withoutPlannedId) : applied
  const rejected = outcomes.flatMap(({ issues = [] }) =>
    issues.map(({ message, path }) => ({ code: "refused" as const, path, message }))
  )
  const counts = { create: 0, update: 0, unchanged: 0, delete: 0 }
  for (const { action } of data) counts[action]++
  return { dry_run, counts, data, findings: [...rejected, ...findings].slice(0, maxFindings) }
}

/**
 * Removes the id of a record that a plan would create. The plan's transaction is rolled back, so no
 * record will ever have this id.
 */
const withoutPlannedId = (one: AppliedDefinition): AppliedDefinition =>
  one.action === "create" ? { ...one, id: null } : one
