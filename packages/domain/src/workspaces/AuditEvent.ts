import { Schema } from "effect"
import { AuditEventId, UserId } from "../shared/Ids.ts"
import { Timestamp } from "../shared/Timestamp.ts"

export const auditActions = [
  "workspace.created",
  "workspace.renamed",
  "member.added",
  "api_key.created",
  "api_key.revoked",
  "api_key.rotated",
  "api_key.deleted",
  "signing_secret.rotated"
] as const

/** Who changed what in a workspace, when and from where. Written with the change, never edited. */
export const AuditEvent = Schema.Struct({
  id: AuditEventId,
  action: Schema.Literals(auditActions),
  actor_id: Schema.NullOr(UserId),
  target_id: Schema.NullOr(Schema.String),
  ip: Schema.NullOr(Schema.String),
  details: Schema.Record(Schema.String, Schema.Unknown),
  created_at: Timestamp
}).annotate({ identifier: "AuditEvent" })
export type AuditEvent = typeof AuditEvent.Type
