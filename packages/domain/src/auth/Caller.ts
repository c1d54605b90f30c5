import { Context } from "effect"
import type { Scope } from "../api-keys/Scope.ts"
import type { ApiKeyId, SessionId, UserId, WorkspaceId } from "../shared/Ids.ts"

/** A person with an access token. */
export interface UserCaller {
  readonly kind: "jwt"
  readonly user_id: UserId
  readonly session_id: SessionId
}

/** A script with an API key, bound to one workspace and its scopes. */
export interface ApiKeyCaller {
  readonly kind: "api_key"
  readonly api_key_id: ApiKeyId
  readonly workspace_id: WorkspaceId
  readonly key_prefix: string
  readonly scopes: ReadonlyArray<Scope>
  readonly expires_at: Date | null
}

/** Who makes this request: known to be allowed by the time a handler runs. */
export class Caller extends Context.Service<Caller, UserCaller | ApiKeyCaller>()(
  "@scheduling/domain/auth/Caller"
) {}
