import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  DefinitionVersion,
  VersionList,
  VersionSummary
} from "@scheduling/domain/definitions/DefinitionVersion"
import { NotFound } from "@scheduling/domain/shared/Errors"
import type { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"
import { ifMatchVersion, inWorkspace } from "../../http/index.ts"
import { timestampOf } from "../../store/index.ts"
import { changesBetween, type RecordedDefinition } from "./ChangeLog.ts"

interface OfRecord<Params> {
  readonly params: Params & { readonly workspace_id: WorkspaceId }
}

interface OfVersion<Params> {
  readonly params: Params & { readonly workspace_id: WorkspaceId; readonly version: number }
}

/** The operations on the versions of records. */
export interface VersionedRecords<Record, RestoreError> {
  /** Lists the versions of a record's definition, newest first. */
  readonly versions: (
    workspaceId: AuthorizedWorkspaceId,
    id: string
  ) => Effect.Effect<ReadonlyArray<RecordedDefinition>, NotFound>
  /**
   * Restores the definition of an earlier version. If `version` is given, fails unless it is the
   * current version of the record.
   */
  readonly restore: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    wanted: RecordedDefinition,
    version?: number
  ) => Effect.Effect<Record, RestoreError>
}

/**
 * Creates the handlers of the endpoints for a record's versions. `idOf` returns the record's id in
 * the path, and `prepare` runs before a restore and outside its transaction.
 */
export const versionHandlers = <Params, Record, RestoreError, F = never>(
  idOf: (params: Params) => string,
  records: VersionedRecords<Record, RestoreError>,
  prepare: (
    workspaceId: AuthorizedWorkspaceId,
    definition: RecordedDefinition["stored"]
  ) => Effect.Effect<void, F> = () => Effect.void
) => {
  const find = Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    params: Params & { readonly version: number }
  ) {
    const versions = yield* records.versions(workspaceId, idOf(params))
    const index = versions.findIndex(({ version }) => version === params.version)
    const wanted = versions[index]
    if (wanted === undefined) return yield* new NotFound({ resource: "version" })
    return { wanted, before: versions[index + 1] }
  })

  return {
    listVersions: inWorkspace((workspaceId, { params }: OfRecord<Params>) =>
      Effect.map(records.versions(workspaceId, idOf(params)), (versions): VersionList => ({
        data: versions.map((one, index) => summaryOf(one, versions[index + 1]))
      }))
    ),

    getVersion: inWorkspace((workspaceId, { params }: OfVersion<Params>) =>
      Effect.map(find(workspaceId, params), ({ before, wanted }): DefinitionVersion => ({
        ...summaryOf(wanted, before),
        definition: wanted.shown
      }))
    ),

    restoreVersion: inWorkspace(
      (
        workspaceId,
        {
          headers,
          params
        }: OfVersion<Params> & { readonly headers: { readonly "if-match"?: string | undefined } }
      ) =>
        Effect.flatMap(find(workspaceId, params), ({ wanted }) =>
          Effect.andThen(
            prepare(workspaceId, wanted.stored),
            records.restore(workspaceId, idOf(params), wanted, ifMatchVersion(headers))
          )
        )
    )
  }
}

const summaryOf = (
  one: RecordedDefinition,
  before: RecordedDefinition | undefined
): VersionSummary => ({
  version: one.version,
  updated_at: timestampOf(one.updated_at),
  updated_by: one.updated_by,
  changes: before === undefined ? [] : changesBetween(before, one)
})
