import { Schema } from "effect"
import { AuditEventId, inPath, UserId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { text } from "../shared/Text.ts"
import { Timestamp, timestampInput } from "../shared/Timestamp.ts"

const auditActions = [
  "workspace.created",
  "workspace.renamed",
  "member.added",
  "member.role_changed",
  "member.removed",
  "member.left",
  "invitation.created",
  "invitation.removed",
  "service_account.created",
  "service_account.updated",
  "service_account.rotated",
  "service_account.deleted",
  "api_key.created",
  "api_key.revoked",
  "api_key.rotated",
  "api_key.deleted",
  "signing_secret.rotated",
  "secret.created",
  "secret.updated",
  "secret.deleted",
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
  "notification_channel.paused",
  "notification_settings.updated",
  "worker.created",
  "worker.updated",
  "worker.paused",
  "worker.resumed",
  "worker.rotated",
  "worker.token_revoked",
  "worker.deleted"
] as const

const AuditAction = oneOf(auditActions, {
  identifier: "AuditAction",
  description: "The resource that was changed, and the change."
})

const auditResources = [
  "workspace",
  "member",
  "invitation",
  "service_account",
  "api_key",
  "signing_secret",
  "secret",
  "billing",
  "notification_channel",
  "notification_settings",
  "worker"
] as const

/** An event of the audit log. It is written together with the change and never edited. */
export const AuditEvent = Schema.Struct({
  id: AuditEventId,
  action: AuditAction,
  actor_id: Schema.NullOr(UserId).annotate({
    description:
      "The user or the service account that made the change. Null if the user is unknown, or the service made the change."
  }),
  target_id: Schema.NullOr(Schema.String).annotate({
    description: "The id of the changed resource. Null if it has none.",
    examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"]
  }),
  ip: Schema.NullOr(Schema.String).annotate({
    description: "The address of the request. Null if unknown.",
    examples: ["203.0.113.7"]
  }),
  details: Schema.Record(Schema.String, Schema.Unknown).annotate({
    description:
      "Details of the action, such as the scopes of a new key. If a service account made the change, `actor` has its `kind`, `service_account`, and its `name`."
  }),
  hash: Schema.NullOr(Schema.String).annotate({
    description:
      "The hash of this event and the previous hash. Null for a moment after the change.",
    examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
  }),
  previous_hash: Schema.NullOr(Schema.String).annotate({
    description:
      "The hash of the previous event of the whole service, which can belong to another workspace. Empty for the first event.",
    examples: ["60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"]
  }),
  created_at: Timestamp.annotate({ description: "When the change was made." })
}).annotate({ identifier: "AuditEvent" })
export type AuditEvent = typeof AuditEvent.Type

export const AuditFilters = {
  actor_id: Schema.optionalKey(
    inPath(UserId).pipe(
      Schema.annotateEncoded({ description: "Only changes by this user or service account." })
    )
  ),
  action: Schema.optionalKey(AuditAction),
  resource: Schema.optionalKey(
    oneOf(auditResources, {
      identifier: "AuditResource",
      description: "Only changes of this kind of resource: the first part of the action."
    })
  ),
  target_id: Schema.optionalKey(
    text({ min: 1, max: 200 }).annotate({
      description: "Only changes of the resource with this id."
    })
  ),
  from: Schema.optionalKey(timestampInput("At this time or later.")),
  to: Schema.optionalKey(timestampInput("Before this time."))
}
export type AuditFilters = Schema.Struct.Type<typeof AuditFilters>

export const actionsOf = ({
  action,
  resource
}: Pick<AuditFilters, "action" | "resource">): ReadonlyArray<AuditEvent["action"]> =>
  auditActions.filter(
    (one) =>
      (action === undefined || one === action) &&
      (resource === undefined || one.startsWith(`${resource}.`))
  )
