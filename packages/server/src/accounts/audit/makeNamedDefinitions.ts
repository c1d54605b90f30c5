import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Conflict, Stale } from "@scheduling/domain/shared/Errors"
import type { PageQuery } from "@scheduling/domain/shared/requests/Page"
import { type Resource } from "@scheduling/domain/shared/Resource"
import { DateTime, Effect, Option } from "effect"
import {
  checkVersion,
  Ids,
  matchesDefinition,
  orNotFound,
  type UpsertResult
} from "../../core/index.ts"
import { pageRequest, toPage } from "../../store/index.ts"
import { ChangeLog, type DefinitionChange } from "./ChangeLog.ts"
import { currentAuthor } from "./currentAuthor.ts"
import type { DefinitionColumns, NamedDefinitionsRepo } from "./namedDefinitionsRepo.ts"

interface Options<Row, Defined, Record> {
  readonly resource: Resource
  readonly repo: NamedDefinitionsRepo<Row>
  readonly changeOf: (before: Row | undefined, after?: Row) => DefinitionChange
  /** Loads what the rows' records need. Returns a function that converts one row to its record. */
  readonly toRecords: (
    workspaceId: AuthorizedWorkspaceId,
    rows: ReadonlyArray<Row>
  ) => Effect.Effect<(row: Row) => Record>
  readonly toRow: (columns: DefinitionColumns, name: string, defined: Defined) => Row
  readonly limit: { readonly count: number; readonly message: string }
  readonly taken: { readonly field: string; readonly message: (name: string) => string }
}

/**
 * Creates the operations for records that are identified by the name in the request's path and
 * always written as a whole. Changes are recorded with their author. Call them in a transaction.
 */
export const makeNamedDefinitions = Effect.fnUntraced(function* <
  Row extends DefinitionColumns,
  Defined extends object,
  Record
>({ changeOf, limit, repo, resource, taken, toRecords, toRow }: Options<Row, Defined, Record>) {
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

  const toRecord = (row: Row) =>
    Effect.map(toRecords(row.workspace_id, [row]), (recordOf) => recordOf(row))

  return {
    list: Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, query: PageQuery) {
      const page = pageRequest(query)
      const rows = yield* repo.list(workspaceId, page)
      return toPage(rows, page, yield* toRecords(workspaceId, rows))
    }),

    get: Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, name: string) {
      return yield* toRecord(yield* requireRecord(repo.find(workspaceId, name)))
    }),

    upsert: Effect.fnUntraced(function* (
      workspaceId: AuthorizedWorkspaceId,
      name: string,
      defined: Defined,
      version: number | undefined
    ) {
      const known = yield* repo.findForUpdate(workspaceId, name)
      if (Option.isNone(known)) {
        if (version !== undefined) return yield* new Stale({ version: null })
        const row = yield* create(workspaceId, name, defined)
        return { isNew: true, record: yield* toRecord(row) } satisfies UpsertResult<Record>
      }
      yield* checkVersion(known.value, version)
      const row = yield* change(known.value, defined)
      const record = yield* toRecord(row)
      if (row === known.value) return { isNew: false, record }
      return { isNew: false, record, before: yield* toRecord(known.value) }
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
