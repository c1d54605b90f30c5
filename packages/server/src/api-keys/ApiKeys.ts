import {
  type ApiKey,
  type ApiKeyInput,
  type CreatedApiKey,
  maxActiveKeys,
  maxKeys
} from "@scheduling/domain/api-keys/ApiKey"
import { Conflict, NotFound, QuotaExceeded } from "@scheduling/domain/shared/Errors"
import type { ApiKeyId, WorkspaceId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/Page"
import type { AuditEvent } from "@scheduling/domain/workspaces/AuditEvent"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { Actor } from "../auth/currentActor.ts"
import { dayMs } from "../platform/millis.ts"
import { orNotFound } from "../platform/orNotFound.ts"
import { Ids } from "../platform/Ids.ts"
import { pageRequest, toPage } from "../platform/Pages.ts"
import { Secrets } from "../platform/Secrets.ts"
import { transactionOf } from "../platform/transaction.ts"
import { AuditLog } from "../workspaces/AuditLog.ts"
import { WorkspacesRepo } from "../workspaces/WorkspacesRepo.ts"
import { ApiKeyRepo, type ApiKeyRow, isActive, toApiKey } from "./ApiKeyRepo.ts"
import { hashKey, makeKey, shownPrefix } from "./ApiKeySecret.ts"

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly list: (workspaceId: WorkspaceId, query: PageQuery) => Effect.Effect<Page<ApiKey>>
    readonly get: (workspaceId: WorkspaceId, id: ApiKeyId) => Effect.Effect<ApiKey, NotFound>
    readonly create: (
      workspaceId: WorkspaceId,
      input: ApiKeyInput,
      actor: Actor
    ) => Effect.Effect<CreatedApiKey, NotFound | QuotaExceeded>
    readonly revoke: (
      workspaceId: WorkspaceId,
      id: ApiKeyId,
      actor: Actor
    ) => Effect.Effect<ApiKey, NotFound>
    readonly rotate: (
      workspaceId: WorkspaceId,
      id: ApiKeyId,
      graceSeconds: number,
      actor: Actor
    ) => Effect.Effect<CreatedApiKey, NotFound | Conflict | QuotaExceeded>
    readonly remove: (
      workspaceId: WorkspaceId,
      id: ApiKeyId,
      actor: Actor
    ) => Effect.Effect<void, NotFound>
  }
>()("@scheduling/server/api-keys/ApiKeys") {
  static readonly layer: Layer.Layer<
    ApiKeys,
    never,
    ApiKeyRepo | AuditLog | Ids | Secrets | SqlClient.SqlClient | WorkspacesRepo
  > = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const repo = yield* ApiKeyRepo
      const workspaces = yield* WorkspacesRepo
      const audit = yield* AuditLog
      const ids = yield* Ids
      const ring = (yield* Secrets).keys("api-key")

      const record = (
        action: AuditEvent["action"],
        row: ApiKeyRow,
        { origin, user_id }: Actor,
        more: Readonly<Record<string, unknown>> = {}
      ) =>
        audit.recordInWorkspace(action, row.workspace_id, {
          actor_id: user_id,
          target_id: row.id,
          origin,
          details: { name: row.name, key_prefix: row.key_prefix, scopes: row.scopes, ...more }
        })

      /** One that was deleted after this request was let in is answered as one that never was. */
      const hold = (workspaceId: WorkspaceId) =>
        Effect.filterOrFail(
          workspaces.claim(workspaceId),
          (isThere) => isThere,
          () => new NotFound({ resource: "workspace" })
        )

      /** Inserts a key with a new secret: all that create and rotate have in common. */
      const issue = Effect.fnUntraced(function* (
        key: Pick<ApiKeyRow, "workspace_id" | "name" | "scopes" | "expires_at">,
        now: Date,
        actor: Actor
      ) {
        const { active, all } = yield* repo.count(key.workspace_id, now)
        if (active >= maxActiveKeys) {
          return yield* new QuotaExceeded({ quota: "active_api_keys", limit: maxActiveKeys })
        }
        if (all >= maxKeys) return yield* new QuotaExceeded({ quota: "api_keys", limit: maxKeys })
        const secret = makeKey()
        const row: ApiKeyRow = {
          ...key,
          id: yield* ids.next,
          key_hash: hashKey(ring, secret),
          key_prefix: shownPrefix(secret),
          created_by: actor.user_id,
          revoked_at: null,
          last_used_at: null,
          created_at: now
        }
        yield* repo.insert(row)
        return { row, created: { ...toApiKey(row, now), key: secret } }
      })

      return ApiKeys.of({
        list: Effect.fnUntraced(function* (workspaceId, query) {
          const page = pageRequest(query)
          const now = yield* DateTime.nowAsDate
          return toPage(yield* repo.list(workspaceId, page), page, (row) => toApiKey(row, now))
        }),

        get: Effect.fn("ApiKeys.get")(function* (workspaceId, id) {
          const row = yield* found(repo.find(workspaceId, id))
          return toApiKey(row, yield* DateTime.nowAsDate)
        }),

        create: Effect.fn("ApiKeys.create")(function* (workspaceId, input, actor) {
          yield* hold(workspaceId)
          const now = yield* DateTime.nowAsDate
          const days = input.expires_in_days ?? null
          const { created, row } = yield* issue(
            {
              workspace_id: workspaceId,
              name: input.name,
              scopes: input.scopes,
              expires_at: days === null ? null : new Date(now.getTime() + days * dayMs)
            },
            now,
            actor
          )
          yield* record("api_key.created", row, actor)
          return created
        }, transaction),

        revoke: Effect.fn("ApiKeys.revoke")(function* (workspaceId, id, actor) {
          const now = yield* DateTime.nowAsDate
          const revoked = yield* repo.updateRevoked(workspaceId, id, now)
          if (Option.isSome(revoked)) yield* record("api_key.revoked", revoked.value, actor)
          const row = yield* Option.isSome(revoked)
            ? Effect.succeed(revoked.value)
            : found(repo.find(workspaceId, id))
          return toApiKey(row, now)
        }, transaction),

        rotate: Effect.fn("ApiKeys.rotate")(function* (workspaceId, id, graceSeconds, actor) {
          yield* hold(workspaceId)
          // Held, so that of two rotations, or of a rotation and a revocation, the second sees the first.
          const old = yield* found(repo.claim(workspaceId, id))
          const now = yield* DateTime.nowAsDate
          if (!isActive(old, now)) {
            return yield* new Conflict({
              message: "A revoked or expired key cannot be rotated; create a new one."
            })
          }
          yield* repo.updateExpiry(workspaceId, id, new Date(now.getTime() + graceSeconds * 1000))
          const { created, row } = yield* issue(old, now, actor)
          yield* record("api_key.rotated", row, actor, { rotated_from: id })
          return created
        }, transaction),

        remove: Effect.fn("ApiKeys.remove")(function* (workspaceId, id, actor) {
          const row = yield* found(repo.remove(workspaceId, id))
          yield* record("api_key.deleted", row, actor)
        }, transaction)
      })
    })
  )
}

const found = orNotFound("api_key")
