import { Schema, Struct } from "effect"
import { ApiKey } from "../api-keys/ApiKey.ts"
import { User } from "../auth/User.ts"
import { WorkspaceId } from "../shared/Ids.ts"

/** A credential with its permissions, so that a script can check them before it starts. */
export const WhoAmI = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("jwt").annotate({ description: "An access token." }),
    user: User
  }),
  Schema.Struct({
    kind: Schema.Literal("api_key").annotate({ description: "An API key." }),
    workspace_id: WorkspaceId.annotate({
      description: "The workspace of the key."
    }),
    ...Struct.pick(ApiKey.fields, ["key_prefix", "scopes", "expires_at"])
  })
]).annotate({ identifier: "WhoAmI" })
export type WhoAmI = typeof WhoAmI.Type
