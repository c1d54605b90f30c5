import { Context } from "effect"
import type { Scope } from "../api-keys/Scope.ts"

export type AccessRule =
  | { readonly kind: "public" }
  | { readonly kind: "jwt" }
  | { readonly kind: "scope"; readonly scope: Scope }
  | { readonly kind: "credential" }

/**
 * Who may call an endpoint, declared beside it. The authentication middleware, the OpenAPI
 * document and the access tests all read this one annotation.
 */
export class Access extends Context.Service<Access, AccessRule>()(
  "@scheduling/domain/shared/Access"
) {
  /** Anybody, without a credential. */
  static readonly public: AccessRule = { kind: "public" }

  /** A user with an access token; API keys are refused. */
  static readonly jwt: AccessRule = { kind: "jwt" }

  /** A user with an access token, or an API key that was given this scope. */
  static readonly scope = (scope: Scope): AccessRule => ({ kind: "scope", scope })

  /** Any valid credential, whatever its scopes. */
  static readonly credential: AccessRule = { kind: "credential" }
}
