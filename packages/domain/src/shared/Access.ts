import { Context } from "effect"
import type { Scope } from "../api-keys/Scope.ts"
import type { Role } from "../members/Role.ts"

export type AccessRule =
  | { readonly kind: "public" }
  | { readonly kind: "jwt"; readonly role: Role | null; readonly isForPeople: boolean }
  | { readonly kind: "scope"; readonly scope: Scope; readonly role: Role }
  | { readonly kind: "any_scope"; readonly scopes: ReadonlyArray<Scope>; readonly role: Role }
  | { readonly kind: "credential" }

/**
 * Defines who may use an endpoint. The authentication middleware, the OpenAPI document and the
 * access tests read this annotation.
 */
export class Access extends Context.Service<Access, AccessRule>()(
  "@scheduling/domain/shared/Access"
) {
  /** Open to anyone, even without a credential. */
  static readonly public: AccessRule = { kind: "public" }

  /** Requires a person's access token; API keys and service accounts are rejected. */
  static readonly jwt: AccessRule = { kind: "jwt", role: null, isForPeople: true }

  /**
   * Requires a member of the workspace in the path with at least this role; API keys are rejected.
   */
  static readonly role = (role: Role): AccessRule => ({ kind: "jwt", role, isForPeople: false })

  /** Like `role`, but service accounts are rejected too. */
  static readonly personWithRole = (role: Role): AccessRule => ({
    kind: "jwt",
    role,
    isForPeople: true
  })

  /**
   * Requires an API key with this scope, or a member: any role may read, editors and above may
   * write.
   */
  static readonly scope = (scope: Scope): AccessRule => ({
    kind: "scope",
    scope,
    role: scope.endsWith(":read") ? "viewer" : "editor"
  })

  /**
   * Requires an API key with at least one of these scopes, or a member as with `scope`. The
   * endpoint decides what each scope allows.
   */
  static readonly anyScope = (scopes: ReadonlyArray<Scope>): AccessRule => ({
    kind: "any_scope",
    scopes,
    role: scopes.every((scope) => scope.endsWith(":read")) ? "viewer" : "editor"
  })

  /** Accepts any valid credential, regardless of its scopes. */
  static readonly credential: AccessRule = { kind: "credential" }
}
