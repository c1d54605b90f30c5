import { Schema } from "effect"
import { Actor } from "../shared/Actor.ts"
import { AuditEventId, idInPath, UserId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { repeatable } from "../shared/requests/repeatable.ts"
import { text } from "../shared/Text.ts"
import { Timestamp, timestampInput } from "../shared/Timestamp.ts"

const auditActions = [
  "workspace.created",
  "workspace.renamed",
  "workspace.stopped",
  "workspace.resumed",
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
  "ping_key.rotated",
  "secret.created",
  "secret.updated",
  "secret.deleted",
  "billing.checkout_started",
  "billing.portal_opened",
  "billing.plan_changed",
  "billing.cancelled",
  "billing.resumed",
  "billing.changed",
  "notification_channel.created",
  "notification_channel.updated",
  "notification_channel.deleted",
  "notification_channel.confirmed",
  "notification_channel.paused",
  "notification_channel.resumed",
  "notification_settings.updated",
  "cron_task.created",
  "cron_task.updated",
  "cron_task.paused",
  "cron_task.resumed",
  "cron_task.backfilled",
  "cron_task.deleted",
  "trigger.created",
  "trigger.updated",
  "trigger.rotated",
  "trigger.deleted",
  "delayed_task.created",
  "delayed_task.updated",
  "delayed_task.deleted",
  "chain.created",
  "chain.updated",
  "chain.paused",
  "chain.resumed",
  "chain.backfilled",
  "chain.deleted",
  "execution.approved",
  "execution.rejected",
  "queue.created",
  "queue.updated",
  "queue.paused",
  "queue.resumed",
  "queue.deleted",
  "monitor.created",
  "monitor.updated",
  "monitor.paused",
  "monitor.resumed",
  "monitor.deleted",
  "maintenance_window.created",
  "maintenance_window.updated",
  "maintenance_window.deleted",
  "escalation_policy.created",
  "escalation_policy.updated",
  "escalation_policy.deleted",
  "status_page.created",
  "status_page.updated",
  "status_page.deleted",
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
  description: "The kind of record that was changed, and the change."
})
export type AuditAction = typeof AuditAction.Type

const subjectKinds = [
  "workspace",
  "member",
  "invitation",
  "service_account",
  "api_key",
  "signing_secret",
  "ping_key",
  "secret",
  "billing",
  "notification_channel",
  "notification_settings",
  "worker",
  "cron_task",
  "trigger",
  "delayed_task",
  "chain",
  "execution",
  "queue",
  "monitor",
  "maintenance_window",
  "escalation_policy",
  "status_page"
] as const

const SubjectKind = oneOf(subjectKinds, {
  identifier: "AuditSubjectKind",
  description: "The kind of record that was changed: the first part of the action."
})

/** One field of a definition that was changed. */
export const FieldChange = Schema.Struct({
  field: Schema.String.annotate({ description: "The name of the field.", examples: ["url"] }),
  old: Schema.Json.annotate({
    description: "The value before. Null if the record was created.",
    examples: ["https://api.example.com/payroll"]
  }),
  new: Schema.Json.annotate({
    description: "The value after. Null if the record was deleted.",
    examples: ["https://api.example.com/v2/payroll"]
  })
}).annotate({
  identifier: "FieldChange",
  description:
    "A changed field. Secrets are masked as in the record. A value of more than 8 KiB is " +
    "replaced by its `sha256` and its `bytes`."
})
export type FieldChange = typeof FieldChange.Type

/**
 * An event of the audit log. It is stored together with the change, and never changed afterwards.
 */
export const AuditEvent = Schema.Struct({
  id: AuditEventId,
  action: AuditAction,
  subject_kind: SubjectKind,
  subject_id: Schema.NullOr(Schema.String).annotate({
    description: "The id of the changed record. Null if it has none.",
    examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"]
  }),
  actor: Schema.NullOr(Actor).annotate({
    description: "Who made the change. Null if unknown."
  }),
  request_id: Schema.NullOr(Schema.String).annotate({
    description:
      "The id of the request, or the reason why the service made the change. Null if unknown.",
    examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"]
  }),
  ip: Schema.NullOr(Schema.String).annotate({
    description: "The address of the request. Null if unknown.",
    examples: ["203.0.113.7"]
  }),
  changes: Schema.Array(FieldChange).annotate({
    description:
      "The changed fields. For a new record, all fields that are not null. Empty if the action " +
      "changes no definition."
  }),
  details: Schema.Record(Schema.String, Schema.Unknown).annotate({
    description: "Details of the action, such as the name of the record."
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
    idInPath(UserId).pipe(
      Schema.annotateEncoded({
        description: "Only changes by this user, API key or service account."
      })
    )
  ),
  action: Schema.optionalKey(AuditAction),
  subject_kind: Schema.optionalKey(repeatable(SubjectKind, "The kind of the changed record")),
  subject_id: Schema.optionalKey(
    text({ min: 1, max: 200 }).annotate({ description: "Only changes to the record with this id." })
  ),
  from: Schema.optionalKey(timestampInput("At this time or later.")),
  to: Schema.optionalKey(timestampInput("Before this time."))
}
export type AuditFilters = Schema.Struct.Type<typeof AuditFilters>

/** Returns the actions that match both filters. An absent filter matches all actions. */
export const matchingActions = ({
  action,
  subject_kind
}: Pick<AuditFilters, "action" | "subject_kind">): ReadonlyArray<AuditAction> =>
  auditActions.filter(
    (one) =>
      (action === undefined || one === action) &&
      (subject_kind === undefined || subject_kind.includes(subjectKindOf(one)))
  )

/** Returns the kind of record that an action changes, which is the first part of the action. */
export const subjectKindOf = (action: AuditAction): AuditEvent["subject_kind"] =>
  action.slice(0, action.indexOf(".")) as AuditEvent["subject_kind"]
