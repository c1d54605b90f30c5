import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Actor } from "@scheduling/domain/shared/Actor"
import type { AuditAction, FieldChange } from "@scheduling/domain/workspaces/AuditEvent"
import { maxVersions } from "@scheduling/domain/definitions/DefinitionVersion"
import { Context, Effect, Layer, type Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { createHash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { AuditLog, type NewAuditEvent, type StoredChange } from "./AuditLog.ts"
import { canonicalJson } from "./auditChainHashes.ts"
import { currentAuthor } from "./currentAuthor.ts"

type Fields = Readonly<Record<string, unknown>>

/** A record's definition at one of its versions. */
export interface RecordedDefinition {
  readonly version: number
  readonly updated_at: Date
  readonly updated_by: Actor | null
  /** The fields as the API shows them, with secrets masked. */
  readonly shown: Fields
  /** The fields as they are stored. They are needed to restore the version, and are never shown. */
  readonly stored: Fields
}

type Verb = "created" | "updated" | "paused" | "resumed" | "deleted"

/** The kinds of records whose definitions are recorded. */
export type RecordedKind =
  Extract<AuditAction, `${string}.updated`> extends `${infer Kind}.updated` ? Kind : never

/** A change of a definition. A creation has no `before`, and a deletion has no `after`. */
export interface DefinitionChange {
  readonly kind: RecordedKind
  readonly workspace_id: AuthorizedWorkspaceId
  /** Null if a workspace has only one record of this kind. */
  readonly id: string | null
  readonly before?: RecordedDefinition
  readonly after?: RecordedDefinition
  readonly details?: Fields
}

/**
 * Records who changed a definition, and how. Record each change in the change's own transaction.
 * The author is taken from the context.
 */
export class ChangeLog extends Context.Service<
  ChangeLog,
  {
    /** Records a change, unless no field differs. */
    readonly record: (change: DefinitionChange) => Effect.Effect<void>
    /** Lists a record's stored versions, newest first. The first one is the current definition. */
    readonly listVersions: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      current: RecordedDefinition
    ) => Effect.Effect<ReadonlyArray<RecordedDefinition>>
    /** Records a creation in the statement that inserts the record (see `AuditLog.recordBy`). */
    readonly recordBy: <A, E, R>(
      change: DefinitionChange,
      write: (insertion: Statement.Fragment | undefined) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, R>
  }
>()("@scheduling/server/accounts/audit/ChangeLog") {
  static readonly layer: Layer.Layer<ChangeLog, never, AuditLog | SqlClient.SqlClient> =
    Layer.effect(
      ChangeLog,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const audit = yield* AuditLog

        const eventOf = (
          { details, id, kind, workspace_id, ...change }: DefinitionChange,
          fields: ReadonlyArray<string>
        ) =>
          Effect.map(currentAuthor, ({ actor, origin }): NewAuditEvent => {
            const name = (change.after ?? change.before)?.shown["name"]
            return {
              // TypeScript cannot derive the type of an action from its two parts.
              action: `${kind}.${verbOf(change, fields)}` as AuditAction,
              workspace_id,
              user_id: null,
              actor,
              subject_id: id,
              origin,
              details: {
                ...(typeof name === "string" && { name }),
                ...details,
                changes: Object.fromEntries(fields.map((field) => [field, changeOf(field, change)]))
              }
            }
          })

        /**
         * Stores the values that a change replaces, and deletes stored versions that are too old or
         * too large.
         */
        const storeReplacedValues = Effect.fnUntraced(function* (
          workspaceId: AuthorizedWorkspaceId,
          id: string,
          { shown, stored, updated_at, updated_by, version }: RecordedDefinition,
          names: ReadonlyArray<string>
        ) {
          const replaced = JSON.stringify(pick(stored, names))
          const visible = JSON.stringify(pick(shown, names))
          yield* sql`
          INSERT INTO definition_versions (
            subject_id, version, workspace_id, replaced, shown, bytes, updated_by, updated_at
          )
          VALUES (
            ${id}, ${version}, ${workspaceId}, ${replaced}::jsonb,
            ${visible === replaced ? null : visible}::jsonb, ${Buffer.byteLength(replaced)},
            ${JSON.stringify(updated_by)}::jsonb, ${updated_at}
          )
          ON CONFLICT DO NOTHING`
          yield* sql`
          DELETE FROM definition_versions
          WHERE workspace_id = ${workspaceId}
            AND subject_id = ${id}
            AND version <= (
              SELECT max(version)
              FROM (
                SELECT
                  version,
                  row_number() OVER newest AS number,
                  sum(bytes) OVER newest AS total
                FROM definition_versions
                WHERE workspace_id = ${workspaceId}
                  AND subject_id = ${id}
                WINDOW newest AS (ORDER BY version DESC)
              ) AS kept
              WHERE number >= ${maxVersions}::integer
                OR total > ${maxVersionBytes}::integer
            )`
        }, Effect.orDie)

        return ChangeLog.of({
          record: Effect.fn("ChangeLog.record")(function* (change) {
            const fields = changedFields(change)
            const { after, before, id } = change
            if (id !== null && before !== undefined && after !== undefined) {
              if (before.version !== after.version)
                yield* storeReplacedValues(change.workspace_id, id, before, fields)
              if (fields.length === 0) return
            }
            yield* audit.record(yield* eventOf(change, fields))
          }),

          listVersions: Effect.fn("ChangeLog.listVersions")(function* (workspaceId, id, current) {
            const rows = yield* sql<VersionRow>`
            SELECT version, replaced, shown, updated_by, updated_at
            FROM definition_versions
            WHERE workspace_id = ${workspaceId}
              AND subject_id = ${id}
              AND version < ${current.version}
            ORDER BY version DESC`
            return versionsBefore(current, rows)
          }, Effect.orDie),

          recordBy: (change, write) =>
            Effect.flatMap(eventOf(change, changedFields(change)), (event) =>
              audit.recordBy(event, write)
            )
        })
      })
    )
}

interface VersionRow {
  readonly version: number
  readonly replaced: Fields
  readonly shown: Fields | null
  readonly updated_by: Actor | null
  readonly updated_at: Date
}

/**
 * Reconstructs earlier versions from the current definition. Each stored row contains the values of
 * its version that the next version replaced.
 */
const versionsBefore = (
  current: RecordedDefinition,
  rows: ReadonlyArray<VersionRow>
): ReadonlyArray<RecordedDefinition> => {
  let last = current
  const earlier = rows.map((row) => {
    last = versionBefore(last, row)
    return last
  })
  return [current, ...earlier]
}

const versionBefore = (
  { shown, stored }: RecordedDefinition,
  { replaced, updated_at, updated_by, version, ...row }: VersionRow
): RecordedDefinition => ({
  version,
  updated_at,
  updated_by,
  stored: { ...stored, ...replaced },
  shown: { ...shown, ...(row.shown ?? replaced) }
})

/** Returns the changed fields with the values that the API shows. */
export const changesBetween = (
  before: RecordedDefinition,
  after: RecordedDefinition
): ReadonlyArray<FieldChange> =>
  changedFields({ before, after }).map((field) => {
    const [old, now] = changeOf(field, { before, after })
    return { field, old, new: now }
  })

const pick = (from: Fields, names: ReadonlyArray<string>) =>
  Object.fromEntries(names.map((name) => [name, from[name] ?? null]))

/** The maximum total size in bytes of one record's stored versions. */
const maxVersionBytes = 4 * 1024 * 1024

/**
 * Returns a function that describes a change from the record's rows before and after it. A creation
 * has no row before the change, and a deletion has none after it.
 */
export const changesOf =
  <Row extends Pick<DefinitionChange, "workspace_id"> & { readonly id: string }>(
    kind: RecordedKind,
    definition: (row: Row) => RecordedDefinition,
    more?: (row: Row) => Partial<Pick<DefinitionChange, "details" | "id">>
  ) =>
  (before: Row | undefined, after?: Row): DefinitionChange => {
    const row = before ?? after
    if (row === undefined) throw new Error("a change has a row before or after it")
    return {
      kind,
      workspace_id: row.workspace_id,
      id: row.id,
      ...more?.(row),
      ...(before !== undefined && { before: definition(before) }),
      ...(after !== undefined && { after: definition(after) })
    }
  }

type BeforeAndAfter = Pick<DefinitionChange, "after" | "before">

/**
 * Returns the fields whose stored values differ. For a creation or deletion, returns the fields
 * that are not null.
 */
const changedFields = ({ after, before }: BeforeAndAfter): ReadonlyArray<string> =>
  Object.keys((after ?? before)?.stored ?? {}).filter((name) => {
    const old = before?.stored[name] ?? null
    const now = after?.stored[name] ?? null
    return old !== now && !isDeepStrictEqual(old, now)
  })

const changeOf = (field: string, { after, before }: BeforeAndAfter): StoredChange => [
  shortenValue(before?.shown[field] ?? null),
  shortenValue(after?.shown[field] ?? null)
]

const verbOf = ({ after, before }: BeforeAndAfter, fields: ReadonlyArray<string>): Verb => {
  if (before === undefined) return "created"
  if (after === undefined) return "deleted"
  if (fields.length > 1 || fields[0] !== "paused") return "updated"
  return after.shown["paused"] === true ? "paused" : "resumed"
}

/**
 * The maximum number of bytes per value in the log, because a definition of 1 MB could be changed
 * ten times a second. The record and its versions keep the whole value.
 */
const maxValueBytes = 8 * 1024

const shortenValue = (value: unknown): Schema.Json => {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value
  if (typeof value === "string" && value.length * 3 <= maxValueBytes) return value
  const json = canonicalJson(value)
  const bytes = Buffer.byteLength(json)
  // The cast is safe, because a record's fields are JSON.
  if (bytes <= maxValueBytes) return value as Schema.Json
  return { sha256: createHash("sha256").update(json).digest("hex"), bytes }
}
