import { Schema, Struct } from "effect"
import { WorkspaceId } from "../shared/Ids.ts"
import { label } from "../shared/Text.ts"
import { createdAt, Timestamp } from "../shared/Timestamp.ts"

export const Workspace = Schema.Struct({
  id: WorkspaceId,
  name: Schema.String.annotate({ description: "The display name." }),
  stopped_at: Schema.NullOr(Timestamp).annotate({
    description:
      "When the workspace was stopped: no run starts until it is resumed. Null if it is not stopped.",
    examples: [null]
  }),
  created_at: createdAt
}).annotate({
  identifier: "Workspace",
  description: "A workspace separates tasks, keys and their history from those of other tenants.",
  examples: [
    {
      id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      name: "Acme production",
      stopped_at: null,
      created_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type Workspace = typeof Workspace.Type

export const WorkspaceInput = Schema.Struct({
  name: label(100, { description: "The display name.", examples: ["Acme production"] })
}).annotate({ identifier: "WorkspaceInput" })

export const WorkspaceUpdate = WorkspaceInput.mapFields(Struct.map(Schema.optionalKey)).annotate({
  identifier: "WorkspaceUpdate",
  description: "The fields to change. Absent fields keep their values.",
  examples: [{ name: "Acme staging" }]
})
