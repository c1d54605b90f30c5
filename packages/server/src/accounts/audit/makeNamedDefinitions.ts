import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { Conflict, type NotFound, Stale } from "@scheduling/domain/shared/Errors"
import { type Resource } from "@scheduling/domain/shared/Resource"
import { DateTime, Effect, Option } from "effect"
import { checkVersion, Ids, matchesDefinition, orNotFound } from "../../core/index.ts"
import { ChangeLog, type DefinitionChange } from "./ChangeLog.ts"
import { currentAuthor } from "./currentAuthor.ts"

/** A row's columns apart from its name and its definition. */
export interface DefinitionColumns {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly version: number
  readonly created_by: Actor | null
  readonly updated_by: Actor | null
  readonly created_at: Date
  readonly updated_at: Date
}

interface Options<Row, Defined> {
  readonly resource: Resource
  readonly repo: {
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      name: string
    ) => Effect.Effect<Option.Option<Row>>
    readonly count: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<number>
    /** Returns false if another record already has the name. */
    readonly insert: (row: Row) => Effect.Effect<boolean, NotFound>
    readonly update: (row: Row) => Effect.Effect<void>
    readonly remove: (workspaceId: AuthorizedWorkspaceId, name: string) => Effect.Effect<void>
  }
  readonly changeOf: (before: Row | undefined, after?: Row) => DefinitionChange
  readonly toRow: (columns: DefinitionColumns, name: string, defined: Defined) => Row
  readonly limit: { readonly count: number; readonly message: string }
  readonly taken: { readonly field: string; readonly message: (name: string) => string }
}

/**
 * Creates the operations for records that are identified by the name in the request's path and
 * always written as a whole. They create, change and delete a record, and record who did it. Call
 * them in a transaction.
 */
export const makeNamedDefinitions = Effect.fnUntraced(function* <
  Row extends DefinitionColumns,
  Defined extends object
>({ changeOf, limit, repo, resource, taken, toRow }: Options<Row, Defined>) {
  const changeLog = yield* ChangeLog
  const ids = yield* Ids
  const requireRecord = orNotFound(resource)

  const create = Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    name: string,
    defined: Defined
  ) {
    if ((yield* repo.count(workspaceId)) >= limit.count) {
      return yield* new Conflict({ resource, message: limit.message })
    }
    const now = yield* DateTime.nowAsDate
    const columns = {
      id: yield* ids.next,
      workspace_id: workspaceId,
      version: 1,
      created_by: (yield* currentAuthor).actor,
      updated_by: null,
      created_at: now,
      updated_at: now
    }
    const row = toRow(columns, name, defined)
    if (!(yield* repo.insert(row))) {
      return yield* new Conflict({ resource, field: taken.field, message: taken.message(name) })
    }
    yield* changeLog.record(changeOf(undefined, row))
    return row
  })

  /** Changes a locked record. */
  const change = Effect.fnUntraced(function* (before: Row, defined: Defined) {
    if (matchesDefinition(before, defined)) return before
    const after = {
      ...before,
      ...defined,
      version: before.version + 1,
      updated_by: (yield* currentAuthor).actor,
      updated_at: yield* DateTime.nowAsDate
    }
    yield* repo.update(after)
    yield* changeLog.record(changeOf(before, after))
    return after
  })

  return {
    /** Returns the row, and its previous version unless the row is new or unchanged. */
    upsert: Effect.fnUntraced(function* (
      workspaceId: AuthorizedWorkspaceId,
      name: string,
      defined: Defined,
      version: number | undefined
    ) {
      const known = yield* repo.findForUpdate(workspaceId, name)
      if (Option.isNone(known)) {
        if (version !== undefined) return yield* new Stale({ version: null })
        return { isNew: true, row: yield* create(workspaceId, name, defined), before: undefined }
      }
      yield* checkVersion(known.value, version)
      const row = yield* change(known.value, defined)
      return { isNew: false, row, before: row === known.value ? undefined : known.value }
    }),

    remove: Effect.fnUntraced(function* (
      workspaceId: AuthorizedWorkspaceId,
      name: string,
      version?: number
    ) {
      const row = yield* requireRecord(repo.findForUpdate(workspaceId, name))
      yield* checkVersion(row, version)
      yield* repo.remove(workspaceId, name)
      yield* changeLog.record(changeOf(row))
    })
  }
})
