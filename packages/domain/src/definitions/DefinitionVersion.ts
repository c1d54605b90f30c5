import { Schema } from "effect"
import { Actor } from "../shared/Actor.ts"
import { versionField } from "../shared/requests/Version.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { FieldChange } from "../workspaces/AuditEvent.ts"

/** The number of versions that are kept of each record. */
export const maxVersions = 100

const fields = {
  ...versionField,
  updated_at: Timestamp.annotate({ description: "When the record got this version." }),
  updated_by: Schema.NullOr(Actor).annotate({
    description: "Who made the change that created this version. Null if unknown."
  }),
  changes: Schema.Array(FieldChange).annotate({
    description:
      "The differences from the previous version. Empty for the oldest version that is kept, " +
      "and if no field has changed."
  })
}

const example = {
  version: 2,
  updated_at: "2026-01-31T09:30:00.000Z",
  updated_by: { kind: "user", id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40", name: "Ada Lovelace" },
  changes: [
    {
      field: "url",
      old: "https://api.example.com/payroll",
      new: "https://api.example.com/v2/payroll"
    }
  ]
} as const

const VersionSummary = Schema.Struct(fields).annotate({
  identifier: "VersionSummary",
  description: "One version of the definition of a record.",
  examples: [example]
})
export type VersionSummary = typeof VersionSummary.Type

export const VersionList = Schema.Struct({
  data: Schema.Array(VersionSummary).annotate({ description: "The versions, newest first." })
}).annotate({
  identifier: "VersionList",
  description: `The last ${maxVersions} versions of a record, the newest first.`
})
export type VersionList = typeof VersionList.Type

export const DefinitionVersion = Schema.Struct({
  ...fields,
  definition: Schema.Record(Schema.String, Schema.Unknown).annotate({
    description: "The fields of the definition. Secrets are masked, as in the record."
  })
}).annotate({
  identifier: "DefinitionVersion",
  description: "One version of the definition of a record, with all its fields.",
  examples: [
    { ...example, definition: { name: "Payroll", url: "https://api.example.com/v2/payroll" } }
  ]
})
export type DefinitionVersion = typeof DefinitionVersion.Type
