import { Schema, Struct } from "effect"
import { ApiKey } from "../api-keys/ApiKey.ts"
import { User } from "../auth/User.ts"
import { ServiceAccount } from "../service-accounts/ServiceAccount.ts"
import { WorkspaceId } from "../shared/Ids.ts"

const AccessTokenIdentity = Schema.Struct({
  kind: Schema.Literal("jwt").annotate({ description: "An access token of a person." }),
  user: User
}).annotate({ identifier: "AccessTokenIdentity", description: "The owner of an access token." })

const ApiKeyIdentity = Schema.Struct({
  kind: Schema.Literal("api_key").annotate({ description: "An API key." }),
  workspace_id: WorkspaceId.annotate({
    description: "The workspace that the API key belongs to."
  }),
  ...Struct.pick(ApiKey.fields, ["key_prefix", "scopes", "expires_at"])
}).annotate({
  identifier: "ApiKeyIdentity",
  description: "The workspace and the permissions of an API key."
})

const ServiceAccountIdentity = Schema.Struct({
  kind: Schema.Literal("service_account").annotate({
    description: "An access token of a service account."
  }),
  workspace_id: WorkspaceId.annotate({ description: "The workspace of the service account." }),
  service_account: ServiceAccount
}).annotate({
  identifier: "ServiceAccountIdentity",
  description: "The workspace and the permissions of a service account."
})

/** A credential with its permissions, so that scripts can check them in advance. */
export const WhoAmI = Schema.Union([
  AccessTokenIdentity,
  ServiceAccountIdentity,
  ApiKeyIdentity
]).annotate({
  identifier: "WhoAmI",
  description: "The credential of the request, one of these schemas according to `kind`."
})
export type WhoAmI = typeof WhoAmI.Type
