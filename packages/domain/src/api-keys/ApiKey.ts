import { Schema } from "effect"
import { ApiKeyId, UserId } from "../shared/Ids.ts"
import { label } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { Scope } from "./Scope.ts"

export const apiKeyPrefix = "pak_"
export const apiKeyLength = 47
export const shownPrefixLength = 12
export const maxActiveKeys = 100

/** With those that were revoked or have expired, and are listed until they are deleted. */
export const maxKeys = 1_000

const fields = {
  id: ApiKeyId,
  name: Schema.String.annotate({ examples: ["CI deploys"] }),
  key_prefix: Schema.String.annotate({
    description: "The first 12 characters of the key, to tell keys apart.",
    examples: ["pak_Zk3vT9qL"]
  }),
  scopes: Schema.Array(Scope),
  expires_at: Schema.NullOr(Timestamp).annotate({ description: "Null if it never expires." }),
  last_used_at: Schema.NullOr(Timestamp).annotate({
    description: "Null until the first use; written at most once a minute.",
    examples: [null]
  }),
  is_active: Schema.Boolean.annotate({
    description: "True only while the key would be accepted: not revoked and not expired."
  }),
  created_at: Timestamp,
  revoked_at: Schema.NullOr(Timestamp).annotate({ examples: [null] }),
  created_by: Schema.NullOr(UserId)
}

const example = {
  id: ApiKeyId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  name: "CI deploys",
  key_prefix: "pak_Zk3vT9qL",
  scopes: ["tasks:read", "tasks:write"],
  expires_at: null,
  last_used_at: null,
  is_active: true,
  created_at: "2026-01-31T09:30:00.000Z",
  revoked_at: null,
  created_by: UserId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40")
} as const

/** A key as it is listed. `is_active` is true only while the key would be accepted. */
export const ApiKey = Schema.Struct(fields).annotate({ identifier: "ApiKey", examples: [example] })
export type ApiKey = typeof ApiKey.Type

/** The answer to create and rotate: the only time that the key itself is shown. */
export const CreatedApiKey = Schema.Struct({
  ...fields,
  key: Schema.RedactedFromValue(Schema.String, { label: "api_key" }).pipe(
    Schema.annotateEncoded({ examples: ["pak_Zk3vT9qLm2XcR7wYbN5hJ8dFgKsPaQeUoViWxCzTyBM"] })
  )
}).annotate({
  identifier: "CreatedApiKey",
  description: "The only answer that carries the key itself. Keep it now; it cannot be shown again."
})
export type CreatedApiKey = typeof CreatedApiKey.Type

export const ApiKeyInput = Schema.Struct({
  name: label(100).pipe(Schema.annotateEncoded({ examples: ["CI deploys"] })),
  scopes: Schema.Array(Scope).check(
    Schema.isBetweenLength(1, 8),
    Schema.isUnique({ expected: "each scope once" })
  ),
  expires_in_days: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3650 })))
  )
}).annotate({
  identifier: "ApiKeyInput",
  description: "Without `expires_in_days` the key never expires.",
  examples: [{ name: "CI deploys", scopes: ["tasks:read", "tasks:write"], expires_in_days: 90 }]
})
export type ApiKeyInput = typeof ApiKeyInput.Type

export const ApiKeyRotation = Schema.Struct({
  grace_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 })).annotate({
      examples: [3600]
    })
  )
}).annotate({
  identifier: "ApiKeyRotation",
  description: "How long the old key goes on working; 0 when absent."
})
