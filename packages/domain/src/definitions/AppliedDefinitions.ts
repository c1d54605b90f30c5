import { Schema } from "effect"
import { monitorKindNames } from "../monitors/monitorNouns.ts"
import { oneOf } from "../shared/oneOf.ts"
import { sections } from "./DefinitionsDocument.ts"

const sectionNames = [...sections, "notification_settings"] as const

export const DefinitionsSection = oneOf(sectionNames, {
  identifier: "DefinitionsSection",
  description: "The part of the document that a record belongs to."
})

export const DefinitionAction = oneOf(["create", "update", "unchanged", "delete"], {
  identifier: "DefinitionAction",
  description: "The action for a record."
})
export type DefinitionAction = typeof DefinitionAction.Type

export const ChangedField = Schema.Struct({
  field: Schema.String.annotate({ description: "The name of the field.", examples: ["schedule"] }),
  old: Schema.Json.annotate({
    description: "The value before. Secrets are masked. Null if there was none."
  }),
  new: Schema.Json.annotate({
    description:
      "The value after. Secrets are masked, so both may look the same. Null if there is none."
  })
}).annotate({
  identifier: "ChangedField",
  examples: [{ field: "schedule", old: "0 3 * * *", new: "0 4 * * *" }]
})
export type ChangedField = typeof ChangedField.Type

export const AppliedDefinition = Schema.Struct({
  section: DefinitionsSection,
  kind: Schema.NullOr(Schema.Literals(monitorKindNames)).annotate({
    description: "The kind of the monitor. Null for other records.",
    examples: [null]
  }),
  key: Schema.NullOr(Schema.String).annotate({
    description: "The key of the record. Null for the notification settings.",
    examples: ["reports:nightly"]
  }),
  id: Schema.NullOr(Schema.String).annotate({
    description:
      "The id of the record. Null if there is no record, and in a plan if the " +
      "record does not exist yet.",
    examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"]
  }),
  action: DefinitionAction,
  changes: Schema.Array(ChangedField).annotate({
    description: "The fields that an update changes."
  })
}).annotate({
  identifier: "AppliedDefinition",
  examples: [
    {
      section: "tasks",
      kind: null,
      key: "reports:nightly",
      id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
      action: "update",
      changes: [{ field: "schedule", old: "0 3 * * *", new: "0 4 * * *" }]
    }
  ]
})
export type AppliedDefinition = typeof AppliedDefinition.Type

export const findingCodes = [
  "refused",
  "never_fires",
  "clock_change",
  "crowded_minute",
  "missing_secret"
] as const

export const DefinitionFinding = Schema.Struct({
  code: oneOf(findingCodes, {
    identifier: "FindingCode",
    description:
      "`refused`: the record cannot be applied, so the document cannot be applied either. Only a plan contains it. `never_fires`: the schedule never fires again. `clock_change`: within " +
      "a year a clock change moves, doubles or drops a slot. `crowded_minute`: more than 30 runs call the same host within one minute of the next week. `missing_secret`: the workspace " +
      "has no secret with this name, so the calls will fail."
  }),
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])).annotate({
    description: "The position in the document: field names, and indexes counted from 0.",
    examples: [["tasks", 3, "schedule"]]
  }),
  message: Schema.String.annotate({
    description: "A human-readable sentence. Its wording may change."
  })
}).annotate({
  identifier: "DefinitionFinding",
  examples: [
    {
      code: "missing_secret",
      path: ["tasks", 3],
      message:
        "The workspace has no secret named API_TOKEN. Calls that use it fail until you create it."
    }
  ]
})
export type DefinitionFinding = typeof DefinitionFinding.Type

const count = (which: string) =>
  Schema.Int.annotate({ description: `The number of ${which} records.` })

export const AppliedDefinitions = Schema.Struct({
  dry_run: Schema.Boolean.annotate({
    description: "True for a plan, which has changed nothing."
  }),
  counts: Schema.Struct({
    create: count("created"),
    update: count("changed"),
    unchanged: count("unchanged"),
    delete: count("deleted")
  }).annotate({ description: "The number of records per action." }),
  data: Schema.Array(AppliedDefinition).annotate({
    description: "The action for each record, in the order of execution."
  }),
  findings: Schema.Array(DefinitionFinding).annotate({
    description:
      "Possible problems in the document, at most 100. Only `refused` prevents applying it."
  })
}).annotate({
  identifier: "AppliedDefinitions",
  examples: [
    {
      dry_run: true,
      counts: { create: 1, update: 0, unchanged: 0, delete: 0 },
      data: [
        {
          section: "tasks",
          kind: null,
          key: "reports:nightly",
          id: null,
          action: "create",
          changes: []
        }
      ],
      findings: []
    }
  ]
})
export type AppliedDefinitions = typeof AppliedDefinitions.Type
