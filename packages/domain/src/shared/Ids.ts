import { Schema, SchemaAST, SchemaTransformation } from "effect"

/** Matches a UUID in any letter case. */
export const uuidPattern = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/

/** A UUID v7. Ids sort by creation time, which list cursors rely on. */
const Id = Schema.String.check(
  Schema.isPattern(uuidPattern, {
    expected: "a UUID",
    toJsonSchema: () => ({ format: "uuid" })
  })
).annotate({ examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"] })

const idOf = (what: string) => Id.annotate({ description: `The id of ${what}.` })

/**
 * An id in a path. Accepts any letter case and is decoded to lower case. Ids in records are not
 * transformed, because the transformation doubles the time to encode a page.
 */
export const idInPath = <S extends Schema.Codec<string, string>>(id: S) =>
  Id.annotate({ description: SchemaAST.resolveDescription(id.ast) }).pipe(
    Schema.decodeTo(id, SchemaTransformation.toLowerCase())
  )

/** The id of a record whose kind is given in another field. */
export const RecordId = idOf("the record")

export const UserId = idOf("the user").pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type

export const SessionId = idOf("the session").pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

export const WorkspaceId = idOf("the workspace").pipe(Schema.brand("WorkspaceId"))
export type WorkspaceId = typeof WorkspaceId.Type

export const ApiKeyId = idOf("the API key").pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

export const ServiceAccountId = idOf("the service account").pipe(Schema.brand("ServiceAccountId"))
export type ServiceAccountId = typeof ServiceAccountId.Type

export const InvitationId = idOf("the invitation").pipe(Schema.brand("InvitationId"))
export type InvitationId = typeof InvitationId.Type

export const SigningSecretId = idOf("the secret").pipe(Schema.brand("SigningSecretId"))
export type SigningSecretId = typeof SigningSecretId.Type

export const SecretId = idOf("the secret").pipe(Schema.brand("SecretId"))
export type SecretId = typeof SecretId.Type

export const AuditEventId = idOf("the event").pipe(Schema.brand("AuditEventId"))
export type AuditEventId = typeof AuditEventId.Type

export const CronTaskId = idOf("the cron task").pipe(Schema.brand("CronTaskId"))
export type CronTaskId = typeof CronTaskId.Type

export const DelayedTaskId = idOf("the delayed task").pipe(Schema.brand("DelayedTaskId"))
export type DelayedTaskId = typeof DelayedTaskId.Type

export const ChainId = idOf("the chain").pipe(Schema.brand("ChainId"))
export type ChainId = typeof ChainId.Type

export const ChainRunId = idOf("the run").pipe(Schema.brand("ChainRunId"))
export type ChainRunId = typeof ChainRunId.Type

export const ExecutionId = idOf("the execution").pipe(Schema.brand("ExecutionId"))
export type ExecutionId = typeof ExecutionId.Type

export const MonitorId = idOf("the monitor").pipe(Schema.brand("MonitorId"))
export type MonitorId = typeof MonitorId.Type

export const MonitorEventId = idOf("the event").pipe(Schema.brand("MonitorEventId"))
export type MonitorEventId = typeof MonitorEventId.Type

export const WorkerId = idOf("the worker").pipe(Schema.brand("WorkerId"))
export type WorkerId = typeof WorkerId.Type

export const QueueId = idOf("the queue").pipe(Schema.brand("QueueId"))
export type QueueId = typeof QueueId.Type

export const IncidentId = idOf("the incident").pipe(Schema.brand("IncidentId"))
export type IncidentId = typeof IncidentId.Type

export const NotificationChannelId = idOf("the channel").pipe(Schema.brand("NotificationChannelId"))
export type NotificationChannelId = typeof NotificationChannelId.Type

export const NotificationDeliveryId = idOf("the delivery").pipe(
  Schema.brand("NotificationDeliveryId")
)
export type NotificationDeliveryId = typeof NotificationDeliveryId.Type

export const StatusPageId = idOf("the status page").pipe(Schema.brand("StatusPageId"))
export type StatusPageId = typeof StatusPageId.Type

export const EscalationPolicyId = idOf("the escalation policy").pipe(
  Schema.brand("EscalationPolicyId")
)
export type EscalationPolicyId = typeof EscalationPolicyId.Type

export const MaintenanceWindowId = idOf("the maintenance window").pipe(
  Schema.brand("MaintenanceWindowId")
)
export type MaintenanceWindowId = typeof MaintenanceWindowId.Type

export const SubjectId = idOf(
  "what the notification is about: a task, a chain, a monitor, a worker or a key"
).pipe(Schema.brand("SubjectId"))
export type SubjectId = typeof SubjectId.Type
