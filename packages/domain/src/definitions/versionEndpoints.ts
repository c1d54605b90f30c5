import { Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Access, type AccessRule } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound, QuotaExceeded, RateLimited, Stale } from "../shared/Errors.ts"
import { IfMatch } from "../shared/requests/Version.ts"
import { DefinitionVersion, VersionList } from "./DefinitionVersion.ts"

const Version = Schema.String.check(
  Schema.isPattern(/^[1-9]\d{0,8}$/, {
    expected: "a version, such as 3",
    toJsonSchema: () => ({ pattern: "^[1-9][0-9]{0,8}$" })
  })
)
  .annotate({ description: "The version.", examples: ["3"] })
  .pipe(Schema.decodeTo(Schema.Int, SchemaTransformation.numberFromString))

/**
 * Creates the endpoints for a record's versions. `path` is the record's path. `of` is part of the
 * endpoint names if the group has several kinds of records.
 */
export const versionEndpoints = <
  const Path extends `/${string}`,
  Params extends Schema.Struct.Fields,
  Record extends Schema.Top,
  const Of extends string = ""
>({
  noun,
  of = "" as Of,
  params,
  path,
  read,
  record,
  write
}: {
  /** The kind of record with its article, such as `a cron task`. */
  readonly noun: `${"a" | "an"} ${string}`
  readonly of?: Of
  readonly path: Path
  readonly params: Params
  readonly record: Record
  readonly read: AccessRule
  readonly write: AccessRule
}) =>
  [
    HttpApiEndpoint.get(`list${of}Versions`, `${path}/versions`, {
      params,
      success: VersionList,
      error: NotFound
    })
      .annotate(Access, read)
      .annotateMerge(
        docs(
          `List ${noun}'s versions`,
          "The last 100 versions of its definition, newest first: who changed what, and when. " +
            "At most 4 MiB of values are kept per record."
        )
      ),

    HttpApiEndpoint.get(`get${of}Version`, `${path}/versions/:version`, {
      params: { ...params, version: Version },
      success: DefinitionVersion,
      error: NotFound
    })
      .annotate(Access, read)
      .annotateMerge(docs(`Get a version of ${noun}`, "One version of its definition, in full.")),

    HttpApiEndpoint.post(`restore${of}Version`, `${path}/versions/:version/restore`, {
      params: { ...params, version: Version },
      headers: IfMatch,
      success: record,
      error: [NotFound, Conflict, QuotaExceeded, RateLimited, Stale]
    })
      .annotate(Access, write)
      .annotateMerge(
        docs(
          `Restore a version of ${noun}`,
          "Restores the definition of this version, including its credentials, as a new " +
            "version. Fails if the definition is no longer valid, for example " +
            "because its queue was deleted."
        )
      )
  ] as const
