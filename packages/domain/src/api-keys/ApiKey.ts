import { Schema } from "effect"
import { secret } from "../shared/secret.ts"
import { ApiKeyId, UserId } from "../shared/Ids.ts"
import { label } from "../shared/Text.ts"
import { Timestamp, createdAt } from "../shared/Timestamp.ts"
import { AllowedIps } from "./AllowedIps.ts"
import { Scope, scopes } from "./Scope.ts"

export const apiKeyPrefix = "pak_"

const fields = {
  id: ApiKeyId,
  name: Schema.String.annotate({ description: "The display name.", examples: ["CI deploys"] }),
  key_prefix: Schema.String.annotate({
    description: "The first 12 characters of the key, to identify it in lists.",
    examples: ["pak_Zk3vT9qL"]
  }),
  scopes: Schema.Array(Scope).annotate({
    description: "The scopes of the key."
  }),
  allowed_ips: Schema.NullOr(Schema.Array(Schema.String)).annotate({
    description: "The networks from which the key can be used. Null means any network.",
    examples: [["203.0.113.0/24"]]
  }),
  expires_at: Schema.NullOr(Timestamp).annotate({
    description: "When the key expires. Null if it never does."
  }),
  last_used_at: Schema.NullOr(Timestamp).annotate({
    description: "When the key was last used, to the minute. Null before the first use.",
    examples: [null]
  }),
  is_active: Schema.Boolean.annotate({
    description: "True if the key is neither revoked nor expired."
  }),
  created_at: createdAt,
  revoked_at: Schema.NullOr(Timestamp).annotate({
    description: "When the key was revoked. Null if it was not.",
    examples: [null]
  }),
  created_by: Schema.NullOr(UserId).annotate({ description: "The user who created the key." })
}

const exampleKey = "pak_Zk3vT9qLm2XcR7wYbN5hJ8dFgKsPaQeUoViWxCzTyBM"

const example = {
  id: ApiKeyId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  name: "CI deploys",
  key_prefix: "pak_Zk3vT9qL",
  scopes: ["tasks:read", "tasks:write"],
  allowed_ips: ["203.0.113.0/24"],
  expires_at: null,
  last_used_at: null,
  is_active: true,
  created_at: "2026-01-31T09:30:00.000Z",
  revoked_at: null,
  created_by: UserId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40")
} as const

export const ApiKey = Schema.Struct(fields).annotate({ identifier: "ApiKey", examples: [example] })
export type ApiKey = typeof ApiKey.Type

export const CreatedApiKey = Schema.Struct({
  ...fields,
  key: secret("api_key", {
    description: "The API key. Only this response contains it.",
    examples: [exampleKey]
  })
}).annotate({
  identifier: "CreatedApiKey",
  description: "Only this response contains the key. Store it now; it cannot be shown again."
})
export type CreatedApiKey = typeof CreatedApiKey.Type

export const ApiKeyInput = Schema.Struct({
  name: label(100, { description: "The display name.", examples: ["CI deploys"] }),
  scopes: Schema.Array(Scope)
    .check(
      Schema.isBetweenLength(1, scopes.length),
      Schema.isUnique({ expected: "each scope once" })
    )
    .annotate({ description: "The scopes of the key, each once." }),
  expires_in_days: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3650 }))).annotate({
      description: "Number of days until the key expires. Absent or null: never."
    })
  ),
  allowed_ips: Schema.optionalKey(
    Schema.NullOr(AllowedIps).annotate({
      description: "Networks from which the key can be used, 1 to 20. Absent or null: any network."
    })
  )
}).annotate({
  identifier: "ApiKeyInput",
  examples: [{ name: "CI deploys", scopes: ["tasks:read", "tasks:write"], expires_in_days: 90 }]
})
export type ApiKeyInput = typeof ApiKeyInput.Type

export const ApiKeyRotation = Schema.Struct({
  grace_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 })).annotate({
      description: "Number of seconds for which the old key still works. Defaults to 0.",
      examples: [3600]
    })
  )
}).annotate({ identifier: "ApiKeyRotation" })

/**
 * A leaked key. Any string is accepted, so that the response does not reveal whether it is a key.
 */
export const LeakedApiKey = Schema.Struct({
  key: secret(
    "api_key",
    { description: "The leaked key.", examples: [exampleKey] },
    Schema.String.check(Schema.isMaxLength(512))
  )
}).annotate({ identifier: "LeakedApiKey" })
