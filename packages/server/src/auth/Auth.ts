import { InvalidApiKey, InvalidToken, MissingCredentials } from "@scheduling/domain/auth/AuthErrors"
import type { ApiKeyCaller, UserCaller } from "@scheduling/domain/auth/Caller"
import { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { ApiKeyRepo, isActive, type VerifiedRow } from "../api-keys/ApiKeyRepo.ts"
import { hashesOf, isWellFormed } from "../api-keys/ApiKeySecret.ts"
import { LastUsed } from "../api-keys/LastUsed.ts"
import { Secrets } from "../platform/Secrets.ts"
import type { Credential } from "./bearer.ts"
import { SessionsRepo } from "./SessionsRepo.ts"
import { Tokens } from "./Tokens.ts"

/** Finds out whose credential it is, each time anew: what was revoked a moment ago is refused. */
export class Auth extends Context.Service<
  Auth,
  {
    readonly authenticate: (
      credential: Credential,
      /** The workspace of the path: a user's membership is looked up in the same statement. */
      workspaceId: string | undefined
    ) => Effect.Effect<
      | { readonly caller: UserCaller; readonly isMember: boolean }
      | { readonly caller: ApiKeyCaller },
      MissingCredentials | InvalidToken | InvalidApiKey
    >
    readonly authenticateKey: (key: string) => Effect.Effect<ApiKeyCaller, InvalidApiKey>
  }
>()("@scheduling/server/auth/Auth") {
  static readonly layer: Layer.Layer<
    Auth,
    never,
    ApiKeyRepo | LastUsed | Secrets | SessionsRepo | Tokens
  > = Layer.effect(
    Auth,
    Effect.gen(function* () {
      const keys = yield* ApiKeyRepo
      const lastUsed = yield* LastUsed
      const sessions = yield* SessionsRepo
      const tokens = yield* Tokens
      const ring = (yield* Secrets).keys("api-key")

      const authenticateKey = (key: string): Effect.Effect<ApiKeyCaller, InvalidApiKey> => {
        if (!isWellFormed(key)) return Effect.fail(new InvalidApiKey())
        const hashes = hashesOf(ring, key)
        const found = Effect.zip(keys.findByHash(hashes), DateTime.nowAsDate)
        return Effect.flatMap(found, ([row, now]) => {
          if (Option.isNone(row) || !isActive(row.value, now)) {
            return Effect.fail(new InvalidApiKey())
          }
          lastUsed.touch(row.value, now)
          return Effect.as(underCurrentSecret(row.value, hashes[0]), toCaller(row.value))
        })
      }

      const underCurrentSecret = ({ id, key_hash }: VerifiedRow, current = key_hash) =>
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
          caller: { kind: "jwt", ...claims } satisfies UserCaller,
          isMember: session.role !== null
        }
      })

      return Auth.of({
        authenticateKey,
        authenticate: (credential, workspaceId) => {
          switch (credential.kind) {
            case "none":
              return Effect.fail(new MissingCredentials())
            case "malformed":
              return Effect.fail(credential.isKey ? new InvalidApiKey() : new InvalidToken())
            case "api_key":
              return Effect.map(authenticateKey(credential.key), (caller) => ({ caller }))
            case "jwt":
              return authenticateUser(credential.token, workspaceId)
          }
        }
      })
    })
  )
}

const isWorkspaceId = Schema.is(WorkspaceId)

const toCaller = (row: VerifiedRow): ApiKeyCaller => ({
  kind: "api_key",
  api_key_id: row.id,
  workspace_id: row.workspace_id,
  key_prefix: row.key_prefix,
  scopes: row.scopes,
  expires_at: row.expires_at
})
