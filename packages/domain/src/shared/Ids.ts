import { Schema, SchemaTransformation } from "effect"

/** Ids are UUID v7: they sort by the time they were made, which is what list cursors rely on. */
const Id = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, {
    expected: "a UUID",
    toJsonSchema: () => ({ format: "uuid" })
  })
).annotate({ examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"] })

/**
 * The id of a path: taken in any case of letters, one id in lower case from there on. Records have
 * it as it is, as a transformation there makes the encoding of a page take twice the time.
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
