import { Schema, Struct } from "effect"
import { accessTokenSeconds } from "../auth/TokenPair.ts"
import type { Role } from "../members/Role.ts"
import { ServiceAccountId, UserId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { secret } from "../shared/secret.ts"
import { label } from "../shared/Text.ts"
import { createdAt, Timestamp } from "../shared/Timestamp.ts"

export const clientSecretPrefix = "psk_"

/**
 * The path of the endpoint that issues an access token for a client id and a client secret,
 * according to RFC 6749.
 */
export const tokenPath = "/v1/auth/token"

const ServiceAccountRole = oneOf(["viewer", "editor", "admin"] satisfies ReadonlyArray<Role>, {
  identifier: "ServiceAccountRole",
  description:
    "The permissions of a service account, like those of a member. It cannot be an owner.",
  examples: ["admin"]
})

const name = label(100, { description: "The display name.", examples: ["Terraform"] })

const fields = {
  id: ServiceAccountId.annotate({
    description: "The id of the service account, which is also its `client_id`."
  }),
  name: Schema.String.annotate({ description: "The display name.", examples: ["Terraform"] }),
  role: ServiceAccountRole,
  secret_prefix: Schema.String.annotate({
    description: "The first 12 characters of the client secret, to identify it in lists.",
    examples: ["psk_Zk3vT9qL"]
  }),
  old_secret_expires_at: Schema.NullOr(Timestamp).annotate({
    description:
      "When the secret before the last rotation stops working. Null if it no longer works.",
    examples: [null]
  }),
  last_used_at: Schema.NullOr(Timestamp).annotate({
    description: "When the service account last got an access token. Null if it never did.",
    examples: [null]
  }),
  created_by: Schema.NullOr(UserId).annotate({
    description:
      "The user or service account that created it. Null if that account has been deleted."
  }),
  created_at: createdAt
}

const example = {
  id: ServiceAccountId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  name: "Terraform",
  role: "admin",
  secret_prefix: "psk_Zk3vT9qL",
  old_secret_expires_at: null,
  last_used_at: null,
  created_by: UserId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
  created_at: "2026-01-31T09:30:00.000Z"
} as const

export const ServiceAccount = Schema.Struct(fields).annotate({
  identifier: "ServiceAccount",
  description: "A non-human member.",
  examples: [example]
})
export type ServiceAccount = typeof ServiceAccount.Type

export const CreatedServiceAccount = Schema.Struct({
  ...fields,
  client_id: ServiceAccountId.annotate({
    description: "The id of the service account, for the token endpoint."
  }),
  client_secret: secret("client_secret", {
    description: "The client secret. Only this response contains it.",
    examples: ["psk_Zk3vT9qLm2XcR7wYbN5hJ8dFgKsPaQeUoViWxCzTyBM"]
  })
}).annotate({
  identifier: "CreatedServiceAccount",
  description: `\`POST ${tokenPath}\` with the client id and the client secret returns an access token for ${accessTokenSeconds} seconds. Store the secret now; it cannot be shown again.`
})
export type CreatedServiceAccount = typeof CreatedServiceAccount.Type

export const ServiceAccountInput = Schema.Struct({ name, role: ServiceAccountRole }).annotate({
  identifier: "ServiceAccountInput",
  examples: [{ name: "Terraform", role: "admin" }]
})
export type ServiceAccountInput = typeof ServiceAccountInput.Type

export const ServiceAccountUpdate = ServiceAccountInput.mapFields(
  Struct.map(Schema.optionalKey)
).annotate({
  identifier: "ServiceAccountUpdate",
  description: "The fields to change. Absent fields keep their values.",
  examples: [{ role: "editor" }]
})
export type ServiceAccountUpdate = typeof ServiceAccountUpdate.Type

export const ServiceAccountRotation = Schema.Struct({
  grace_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 })).annotate({
      description:
        "Number of seconds for which the old secret and its tokens still work. Defaults to 0.",
      examples: [3600]
    })
  )
}).annotate({ identifier: "ServiceAccountRotation" })
