import {
  type ApiKey,
  type ApiKeyInput,
  type CreatedApiKey
} from "@scheduling/domain/api-keys/ApiKey"
import { scopes } from "@scheduling/domain/api-keys/Scope"
import type { Forbidden, InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ApiKeyUsage } from "@scheduling/domain/api-keys/ApiKeyUsage"
import {
  Conflict,
  type NotFound,
  type QuotaExceeded,
  type RateLimited
} from "@scheduling/domain/shared/Errors"
import type { ApiKeyId, UserId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import type { AuditEvent } from "@scheduling/domain/workspaces/AuditEvent"
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Actor } from "../audit/currentActor.ts"
import type { RequestOrigin } from "../../http/index.ts"
import {
  dayMs,
  bearerKeyHashes,
  hashBearerKey,
  Ids,
  orNotFound,
  Secrets,
  shownPrefixOf
} from "../../core/index.ts"
import { Limits } from "../../plans/index.ts"
import { pageRequest, toPage, transactionOf } from "../../store/index.ts"
import { operatorOrigin } from "../operatorOrigin.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { makeWorkspaceLock } from "../workspaces/makeWorkspaceLock.ts"
import { WorkspacesRepo } from "../workspaces/WorkspacesRepo.ts"
import { ApiKeyRepo, type ApiKeyRow, isActive, toApiKey } from "./ApiKeyRepo.ts"
import { isWellFormed, makeKey } from "./ApiKeySecret.ts"
import { KeyUsesRepo } from "./KeyUsesRepo.ts"
import { usageObservedSince, keyUsage } from "./keyUsage.ts"
import { nextExpiryNoticeAt } from "./nextExpiryNoticeAt.ts"

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery
    ) => Effect.Effect<Page<ApiKey>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: ApiKeyId
    ) => Effect.Effect<ApiKey, NotFound>
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: ApiKeyInput,
      actor: Actor
    ) => Effect.Effect<CreatedApiKey, InvalidToken | NotFound | Forbidden | QuotaExceeded>
    /** Creates a key with all scopes for the owner of a workspace that an operator has created. */
    readonly createFirst: (
      workspaceId: AuthorizedWorkspaceId,
      ownerId: UserId
    ) => Effect.Effect<Redacted.Redacted, NotFound | QuotaExceeded>
    readonly usage: (
      workspaceId: AuthorizedWorkspaceId,
      id: ApiKeyId
    ) => Effect.Effect<ApiKeyUsage, NotFound>
    readonly revoke: (
      workspaceId: AuthorizedWorkspaceId,
      id: ApiKeyId,
      actor: Actor
    ) => Effect.Effect<ApiKey, NotFound>
    /**
     * Revokes a leaked key on behalf of whoever found it. The response reveals nothing about the
     * key.
     */
    readonly revokeLeaked: (
      key: Redacted.Redacted,
      origin: RequestOrigin
    ) => Effect.Effect<void, RateLimited>
    readonly rotate: (
      workspaceId: AuthorizedWorkspaceId,
      id: ApiKeyId,
      graceSeconds: number,
      actor: Actor
    ) => Effect.Effect<
      CreatedApiKey,
      InvalidToken | NotFound | Forbidden | Conflict | QuotaExceeded
    >
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: ApiKeyId,
      actor: Actor
    ) => Effect.Effect<void, NotFound>
  }
>()("@scheduling/server/accounts/api-keys/ApiKeys") {
  static readonly layer: Layer.Layer<
    ApiKeys,
    never,
    | ApiKeyRepo
    | AuditLog
    | Ids
    | KeyUsesRepo
    | Limits
    | Secrets
    | SqlClient.SqlClient
    | Throttle
    | WorkspacesRepo
  > = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const repo = yield* ApiKeyRepo
      const uses = yield* KeyUsesRepo
      const throttle = yield* Throttle
      const audit = yield* AuditLog
      const ids = yield* Ids
      const limits = yield* Limits
      const ring = (yield* Secrets).keys("api-key")

      const record = (
        action: AuditEvent["action"],
        row: ApiKeyRow,
        { origin, user_id }: { readonly origin: RequestOrigin; readonly user_id: UserId | null },
        more: Readonly<Record<string, unknown>> = {}
      ) =>
        audit.recordInWorkspace(action, row.workspace_id, {
          actor_id: user_id,
          subject_id: row.id,
          origin,
          details: { name: row.name, key_prefix: row.key_prefix, scopes: row.scopes, ...more }
        })

      const lockAs = makeWorkspaceLock(yield* WorkspacesRepo)

      const issue = Effect.fnUntraced(function* (
        key: Pick<
          ApiKeyRow,
          "id" | "workspace_id" | "name" | "scopes" | "allowed_ips" | "expires_at"
        >,
        now: Date,
        { user_id }: Pick<Actor, "user_id">
      ) {
        yield* limits.allowOneMore(key.workspace_id, "active_api_keys", "api_keys")
        const secret = makeKey()
        const row: ApiKeyRow = {
          ...key,
          key_hash: hashBearerKey(ring, secret),
          key_prefix: shownPrefixOf(secret),
          created_by: user_id,
          revoked_at: null,
          last_used_at: null,
          created_at: now
        }
        yield* repo.insert(row, nextExpiryNoticeAt(row.expires_at, now))
        return { row, created: { ...toApiKey(row, now), key: secret } }
      })

      return ApiKeys.of({
        list: Effect.fnUntraced(function* (workspaceId, query) {
          const page = pageRequest(query)
          const now = yield* DateTime.nowAsDate
          return toPage(yield* repo.list(workspaceId, page), page, (row) => toApiKey(row, now))
        }),

        get: Effect.fn("ApiKeys.get")(function* (workspaceId, id) {
          const row = yield* requireKey(repo.find(workspaceId, id))
          return toApiKey(row, yield* DateTime.nowAsDate)
        }),

        create: Effect.fn("ApiKeys.create")(function* (workspaceId, input, actor) {
          yield* lockAs(workspaceId, actor, "admin")
          const now = yield* DateTime.nowAsDate
          const days = input.expires_in_days ?? null
          const { created, row } = yield* issue(
            {
              id: yield* ids.next,
              workspace_id: workspaceId,
              name: input.name,
              scopes: input.scopes,
              allowed_ips: input.allowed_ips ?? null,
              expires_at: days === null ? null : new Date(now.getTime() + days * dayMs)
            },
            now,
            actor
          )
          yield* record("api_key.created", row, actor)
          return created
        }, transaction),

        createFirst: Effect.fn("ApiKeys.createFirst")(function* (workspace_id, user_id) {
          const owner = { user_id, origin: operatorOrigin }
          const { created, row } = yield* issue(
            {
              id: yield* ids.next,
              workspace_id,
              name: "First start",
              scopes,
              allowed_ips: null,
              expires_at: null
            },
            yield* DateTime.nowAsDate,
            owner
          )
          yield* record("api_key.created", row, owner)
          return created.key
        }, transaction),

        usage: Effect.fn("ApiKeys.usage")(function* (workspaceId, id) {
          const row = yield* requireKey(repo.find(workspaceId, id))
          const now = yield* DateTime.nowAsDate
          return keyUsage(row, yield* uses.list(workspaceId, id, usageObservedSince(row, now)), now)
        }),

        revoke: Effect.fn("ApiKeys.revoke")(function* (workspaceId, id, actor) {
          const now = yield* DateTime.nowAsDate
          const revoked = yield* repo.updateRevoked(workspaceId, id, now)
          if (Option.isSome(revoked)) yield* record("api_key.revoked", revoked.value, actor)
          const row = yield* Option.isSome(revoked)
            ? Effect.succeed(revoked.value)
            : requireKey(repo.find(workspaceId, id))
          return toApiKey(row, now)
        }, transaction),

        revokeLeaked: Effect.fn("ApiKeys.revokeLeaked")(function* (secret, origin) {
          yield* throttle.count("leaked keys", origin.ip)
          const key = Redacted.value(secret)
          if (!isWellFormed(key)) return
          yield* transaction(
            Effect.gen(function* () {
              const now = yield* DateTime.nowAsDate
              const revoked = yield* repo.updateRevokedByHash(bearerKeyHashes(ring, key), now)
              if (Option.isNone(revoked)) return
              const finder = { origin, user_id: null }
              yield* record("api_key.revoked", revoked.value, finder, { was_leaked: true })
            })
          )
        }),

        rotate: Effect.fn("ApiKeys.rotate")(function* (workspaceId, id, graceSeconds, actor) {
          yield* lockAs(workspaceId, actor, "admin")
          // The key is locked, so that a second rotation or a revocation sees the result of this
          // one.
          const old = yield* requireKey(repo.findForUpdate(workspaceId, id))
          const now = yield* DateTime.nowAsDate
          if (!isActive(old, now)) {
            return yield* new Conflict({
              resource: "api_key",
              field: "is_active",
              message: "The API key is revoked or expired. Create a new key."
            })
          }
          // A rotated key expires at the end of its grace period. A second successor would inherit
          // this expiry, which the owner did not choose.
          if (old.successor_id !== null) {
            return yield* new Conflict({
              resource: "api_key",
              existing_id: old.successor_id,
              message: `The API key was already rotated. Rotate its successor, ${old.successor_id}.`
            })
          }
          const successorId = yield* ids.next
          const graceEnds = new Date(now.getTime() + graceSeconds * 1000)
          yield* repo.updateRotated(workspaceId, id, successorId, graceEnds)
          const { created, row } = yield* issue({ ...old, id: successorId }, now, actor)
          yield* record("api_key.rotated", row, actor, { rotated_from: id })
          return created
        }, transaction),

        remove: Effect.fn("ApiKeys.remove")(function* (workspaceId, id, actor) {
          const row = yield* requireKey(repo.remove(workspaceId, id))
          yield* record("api_key.deleted", row, actor)
        }, transaction)
      })
    })
  )
}

const requireKey = orNotFound("api_key")
