import { Schema, SchemaTransformation } from "effect"

/** Ids are UUIDs v7. They sort by the time they were made, and list cursors rely on that. */
const Id = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, {
    expected: "a UUID",
    toJsonSchema: () => ({ format: "uuid" })
  })
).annotate({ examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"] })

/**
 * An id in a path. It is accepted in any letter case and is lower case from there on. Ids in
 * records are not transformed, because that doubles the time to encode a page.
 */
export const inPath = <S extends Schema.Codec<string, string>>(id: S) =>
  Id.pipe(Schema.decodeTo(id, SchemaTransformation.toLowerCase()))

export const UserId = Id.pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type

export const SessionId = Id.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

export const WorkspaceId = Id.pipe(Schema.brand("WorkspaceId"))
export type WorkspaceId = typeof WorkspaceId.Type

export const ApiKeyId = Id.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

export const InvitationId = Id.pipe(Schema.brand("InvitationId"))
export type InvitationId = typeof InvitationId.Type

export const SigningSecretId = Id.pipe(Schema.brand("SigningSecretId"))
export type SigningSecretId = typeof SigningSecretId.Type

export const AuditEventId = Id.pipe(Schema.brand("AuditEventId"))
export type AuditEventId = typeof AuditEventId.Type

export const CronTaskId = Id.pipe(Schema.brand("CronTaskId"))
export type CronTaskId = typeof CronTaskId.Type

export const DelayedTaskId = Id.pipe(Schema.brand("DelayedTaskId"))
export type DelayedTaskId = typeof DelayedTaskId.Type

export const ChainId = Id.pipe(Schema.brand("ChainId"))
export type ChainId = typeof ChainId.Type

export const ChainRunId = Id.pipe(Schema.brand("ChainRunId"))
export type ChainRunId = typeof ChainRunId.Type

export const ExecutionId = Id.pipe(Schema.brand("ExecutionId"))
export type ExecutionId = typeof ExecutionId.Type

export const MonitorId = Id.pipe(Schema.brand("MonitorId"))
export type MonitorId = typeof MonitorId.Type

export const MonitorEventId = Id.pipe(Schema.brand("MonitorEventId"))
export type MonitorEventId = typeof MonitorEventId.Type

export const WorkerId = Id.pipe(Schema.brand("WorkerId"))
export type WorkerId = typeof WorkerId.Type

export const QueueId = Id.pipe(Schema.brand("QueueId"))
export type QueueId = typeof QueueId.Type

export const IncidentId = Id.pipe(Schema.brand("IncidentId"))
export type IncidentId = typeof IncidentId.Type
export const NotificationChannelId = Id.pipe(Schema.brand("NotificationChannelId"))
export type NotificationChannelId = typeof NotificationChannelId.Type

export const NotificationDeliveryId = Id.pipe(Schema.brand("NotificationDeliveryId"))
export type NotificationDeliveryId = typeof NotificationDeliveryId.Type

/** Of whatever a notification is about: a task, a chain, a monitor, a worker, a key. */
export const SubjectId = Id.pipe(Schema.brand("SubjectId"))
export type SubjectId = typeof SubjectId.Type
