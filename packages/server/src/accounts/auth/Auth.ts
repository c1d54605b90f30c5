import { InvalidApiKey, InvalidToken, MissingCredentials } from "@scheduling/domain/auth/AuthErrors"
import type { Scope } from "@scheduling/domain/api-keys/Scope"
import type { ApiKeyPrincipal, UserPrincipal } from "@scheduling/domain/auth/Principal"
import { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { authorize } from "../access/authorize.ts"
import { ApiKeyRepo, isActive, type VerifiedKeyRow } from "../api-keys/ApiKeyRepo.ts"
import { isWellFormed } from "../api-keys/ApiKeySecret.ts"
import { bearerKeyHashes, Secrets } from "../../core/index.ts"
import { isAllowedFrom } from "../api-keys/isAllowedFrom.ts"
import { KeyUses } from "../api-keys/KeyUses.ts"
import { networkOf } from "../../http/index.ts"
import type { Credential } from "./bearer.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Tokens } from "../sessions/Tokens.ts"

/**
 * Finds the principal that a credential identifies. Results are not cached, so that a revocation
 * takes effect on the next request.
 */
export class Auth extends Context.Service<
  Auth,
  {
    readonly authenticate: (
      credential: Credential,
      /** The workspace in the path. The same statement reads the user's role in this workspace. */
      workspaceId: string | undefined,
      ip: string | null
    ) => Effect.Effect<
      { readonly principal: UserPrincipal | ApiKeyPrincipal },
      MissingCredentials | InvalidToken | InvalidApiKey
    >
    readonly authenticateKey: (
      key: string,
      ip: string | null
    ) => Effect.Effect<ApiKeyPrincipal, InvalidApiKey>
    readonly noteUse: (principal: ApiKeyPrincipal, scope: Scope) => void
  }
>()("@scheduling/server/accounts/auth/Auth") {
  static readonly layer: Layer.Layer<
    Auth,
    never,
    ApiKeyRepo | KeyUses | Secrets | SessionsRepo | Tokens
  > = Layer.effect(
    Auth,
    Effect.gen(function* () {
      const keys = yield* ApiKeyRepo
      const uses = yield* KeyUses
      const sessions = yield* SessionsRepo
      const tokens = yield* Tokens
      const ring = (yield* Secrets).keys("api-key")

      const authenticateKey = (
        key: string,
        ip: string | null
      ): Effect.Effect<ApiKeyPrincipal, InvalidApiKey> => {
        if (!isWellFormed(key)) return Effect.fail(new InvalidApiKey())
        const hashes = bearerKeyHashes(ring, key)
        const found = Effect.zip(keys.findByHash(hashes), DateTime.nowAsDate)
        return Effect.flatMap(found, ([row, now]) => {
          if (Option.isNone(row) || !isActive(row.value, now)) {
            return Effect.fail(new InvalidApiKey())
          }
          const { allowed_ips, id } = row.value
          const isRefused = !isAllowedFrom(ip, allowed_ips)
          if (ip !== null) uses.note(id, isRefused ? "refused_address" : "address", networkOf(ip))
          // The response is the same as for an unknown key, so that a thief does not learn that the
          // stolen key is valid.
          if (isRefused) return Effect.fail(new InvalidApiKey())
          uses.touch(row.value, now)
          return Effect.as(renewHash(row.value, hashes[0]), toPrincipal(row.value))
        })
      }

      const renewHash = ({ id, key_hash }: VerifiedKeyRow, current = key_hash) =>
        key_hash === current ? Effect.void : keys.updateHash(id, key_hash, current)

      const authenticateUser = Effect.fnUntraced(function* (
        token: string,
        workspaceId: string | undefined
      ) {
        const claims = yield* Effect.mapError(tokens.verifyAccess(token), () => new InvalidToken())
        const session = Option.getOrUndefined(
          yield* sessions.findLive(
            claims.session_id,
            isWorkspaceId(workspaceId) ? workspaceId : undefined
          )
        )
        const now = yield* DateTime.nowAsDate
        if (
          session === undefined ||
          session.user_id !== claims.user_id ||
          session.expires_at <= now
        ) {
          return yield* new InvalidToken()
        }
        return {
          principal: {
            kind: "jwt",
            ...claims,
            lane: session.lane,
            role: session.role,
            name: session.name,
            service_account: session.service_account
          } satisfies UserPrincipal
        }
      })

      return Auth.of({
        authenticateKey,
        noteUse: ({ api_key_id }, scope) => uses.note(api_key_id, "scope", scope),
        authenticate: (credential, workspaceId, ip) => {
          switch (credential.kind) {
            case "none":
              return Effect.fail(new MissingCredentials())
            case "malformed":
              return Effect.fail(credential.isKey ? new InvalidApiKey() : new InvalidToken())
            case "api_key":
              return Effect.map(authenticateKey(credential.key, ip), (principal) => ({ principal }))
            case "jwt":
              return authenticateUser(credential.token, workspaceId)
          }
        }
      })
    })
  )
}

const isWorkspaceId = Schema.is(WorkspaceId)

const toPrincipal = (row: VerifiedKeyRow): ApiKeyPrincipal => ({
  kind: "api_key",
  api_key_id: row.id,
  workspace_id: authorize(row.workspace_id),
  lane: row.lane,
  name: row.name,
  key_prefix: row.key_prefix,
  scopes: row.scopes,
  expires_at: row.expires_at
})
