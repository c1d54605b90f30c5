import { Schema } from "effect"
import { AuditEventId, UserId } from "../shared/Ids.ts"
import { Timestamp } from "../shared/Timestamp.ts"

export const auditActions = [
  "workspace.created",
  "workspace.renamed",
  "member.added",
  "member.role_changed",
  "member.removed",
  "member.left",
  "invitation.created",
  "invitation.removed",
  "api_key.created",
  "api_key.revoked",
  "api_key.rotated",
  "api_key.deleted",
  "signing_secret.rotated",
  "billing.checkout_started",
  "billing.portal_opened",
  "billing.plan_changed",
  "billing.cancelled",
  "billing.resumed",
  "billing.changed",
  "billing.tasks_paused",
  "billing.tasks_resumed",
  "notification_channel.created",
  "notification_channel.updated",
  "notification_channel.deleted",
  "notification_channel.confirmed",
  "notification_channel.disabled",
  "notification_settings.updated",
  "worker.created",
  "worker.updated",
  "worker.paused",
  "worker.resumed",
  "worker.rotated",
  "worker.token_revoked",
  "worker.deleted"
] as const

/**
 * Who changed what in a workspace, when and from where. It is written together with the change and
 * never edited.
 */
export const AuditEvent = Schema.Struct({
  id: AuditEventId,
  action: Schema.Literals(auditActions),
  actor_id: Schema.NullOr(UserId),
  target_id: Schema.NullOr(Schema.String),
  ip: Schema.NullOr(Schema.String),
  details: Schema.Record(Schema.String, Schema.Unknown),
  hash: Schema.NullOr(Schema.String).annotate({
    description: "Over this event and the hash before it. Null for a moment after the change."
  }),
  previous_hash: Schema.NullOr(Schema.String).annotate({
    description: "The hash of the event before it. Empty for the first event."
  }),
  created_at: Timestamp
}).annotate({ identifier: "AuditEvent" })
export type AuditEvent = typeof AuditEvent.Type
