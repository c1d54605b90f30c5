import { Schema } from "effect"
import { Scope } from "../api-keys/Scope.ts"
import { User } from "../auth/User.ts"
import { WorkspaceId } from "../shared/Ids.ts"
import { Timestamp } from "../shared/Timestamp.ts"

/** What a credential is and may do. A script can ask this before it starts. */
export const WhoAmI = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("jwt"), user: User }),
  Schema.Struct({
    kind: Schema.Literal("api_key"),
    workspace_id: WorkspaceId,
    key_prefix: Schema.String,
    scopes: Schema.Array(Scope),
    expires_at: Schema.NullOr(Timestamp)
  })
]).annotate({ identifier: "WhoAmI" })
export type WhoAmI = typeof WhoAmI.Type
