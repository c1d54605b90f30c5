import { Context } from "effect"
import type { Scope } from "../api-keys/Scope.ts"
import type { Role } from "../members/Role.ts"
import type { Actor } from "../shared/Actor.ts"
import type { ApiKeyId, SessionId, UserId } from "../shared/Ids.ts"
import type { AuthorizedWorkspaceId } from "./CurrentWorkspace.ts"

/** A person or a service account with an access token. */
export interface UserPrincipal {
  readonly kind: "jwt"
  readonly user_id: UserId
  readonly session_id: SessionId
  /**
   * A number that identifies the account. Accounts are served in turn by this number, so that no
   * account can delay the others' work.
   */
  readonly lane: bigint
  /**
   * The user's role in the workspace in the request's path. Null if the path has no workspace, or
   * if the user is not a member.
   */
  readonly role: Role | null
  /** The person's or service account's name. Null for a person without a name. */
  readonly name: string | null
  /** The service account's name. Null for a person. */
  readonly service_account: string | null
}

/** A script with an API key, bound to one workspace and its scopes. */
export interface ApiKeyPrincipal {
  readonly kind: "api_key"
  readonly api_key_id: ApiKeyId
  readonly workspace_id: AuthorizedWorkspaceId
  /** The `lane` of the account that created the workspace, as in `UserPrincipal`. */
  readonly lane: bigint
  readonly name: string
  readonly key_prefix: string
  readonly scopes: ReadonlyArray<Scope>
  readonly expires_at: Date | null
}

/** The user or API key that makes the request. Handlers run only after the access check. */
export class Principal extends Context.Service<Principal, UserPrincipal | ApiKeyPrincipal>()(
  "@scheduling/domain/auth/Principal"
) {}

/** Returns the principal as the author of a change. */
export const actorOf = (principal: Principal["Service"]): Actor =>
  principal.kind === "api_key"
    ? { kind: "api_key", id: principal.api_key_id, name: principal.name }
    : {
        kind: principal.service_account === null ? "user" : "service_account",
        id: principal.user_id,
        name: principal.name
      }

export const principalId = (principal: Principal["Service"]): UserId | ApiKeyId =>
  principal.kind === "jwt" ? principal.user_id : principal.api_key_id

/** The user, API key or trigger URL that makes a request, for rate limits and idempotency keys. */
export interface Requester {
  /** The id of the user or API key, or of the task whose trigger URL is requested. */
  readonly id: string
  readonly lane: bigint
}

export const requesterOf = (principal: Principal["Service"]): Requester => ({
  id: principalId(principal),
  lane: principal.lane
})
