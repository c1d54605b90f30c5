import { Schema } from "effect"
import { monitorKindNames } from "../monitors/monitorNouns.ts"
import { RecordId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { CallerChosenKey } from "../shared/requests/CallerChosenKey.ts"
import { optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { filterIssue } from "../shared/ValidationIssue.ts"

export const incidentSubjectKinds = [...monitorKindNames, "cron", "chain"] as const

export const IncidentSubjectKind = oneOf(incidentSubjectKinds, {
  identifier: "IncidentSubjectKind",
  description: "The kind of the monitor, or `cron` or `chain`."
})
export type IncidentSubjectKind = typeof IncidentSubjectKind.Type

/** The maximum number of dependencies per monitor or task. */
export const maxDependencies = 20

const exampleId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d44"

export const Dependency = Schema.Struct({
  kind: IncidentSubjectKind,
  id: RecordId.annotate({ description: "The id of the monitor, cron task or chain." }),
  key: Schema.NullOr(Schema.String).annotate({
    description: "The key of the monitor, cron task or chain. Null if it has none."
  })
}).annotate({
  identifier: "Dependency",
  description: "A monitor, cron task or chain that another one depends on.",
  examples: [{ kind: "tcp", id: exampleId, key: "database" }]
})
export type Dependency = typeof Dependency.Type

export const DependencyInput = Schema.Struct({
  kind: IncidentSubjectKind,
  id: Schema.optionalKey(
    RecordId.annotate({ description: "The id of the monitor, cron task or chain." })
  ),
  key: Schema.optionalKey(
    Schema.NullOr(CallerChosenKey).annotate({
      description:
        "The key of the monitor, cron task or chain, instead of `id`. Ignored if `id` is given."
    })
  )
})
  .check(
    Schema.makeFilter(({ id, key }) =>
      id === undefined && (key === undefined || key === null)
        ? filterIssue({
            path: ["id"],
            code: "required",
            problem: "is required, unless a key is given"
          })
        : undefined
    )
  )
  .annotate({
    identifier: "DependencyInput",
    description: "A monitor, cron task or chain of the same workspace, by its `id` or its `key`.",
    examples: [{ kind: "tcp", key: "database" }]
  })
export type DependencyInput = typeof DependencyInput.Type

const description =
  "The monitors, cron tasks and chains that the record depends on directly. While one of them, or " +
  "one that it depends on, has an open incident, an incident of the record is `suppressed`: nobody " +
  "is notified of it."

/** A monitor's, cron task's or chain's dependencies in a request. */
export const dependsOnInput = {
  depends_on: optionalWithDefault(
    "None",
    Schema.Array(DependencyInput)
      .check(Schema.isMaxLength(maxDependencies))
      .annotate({
        description: `${description} At most ${maxDependencies}. A record cannot depend on itself, not even indirectly.`,
        // The example is empty, because the contract tests send it to workspaces without other
        // records.
        examples: [[]]
      })
  )
}

export const dependsOnField = {
  depends_on: Schema.Array(Dependency).annotate({ description })
}
