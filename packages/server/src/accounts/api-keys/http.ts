import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { currentActor } from "../audit/currentActor.ts"
import { implement, inWorkspace, withMinimumDuration, requestOrigin } from "../../http/index.ts"
import { ApiKeys } from "./ApiKeys.ts"

export const ApiKeysHandlers = implement(
  Api,
  "apiKeys",
  Effect.fnUntraced(function* (handlers) {
    const apiKeys = yield* ApiKeys
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => apiKeys.list(workspaceId, query)),

      get: inWorkspace((workspaceId, { params }) => apiKeys.get(workspaceId, params.key_id)),

      getUsage: inWorkspace((workspaceId, { params }) => apiKeys.usage(workspaceId, params.key_id)),

      create: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { payload }) {
          const actor = yield* currentActor
          return yield* apiKeys.create(workspaceId, payload, actor)
        })
      ),

      revoke: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params }) {
          return yield* apiKeys.revoke(workspaceId, params.key_id, yield* currentActor)
        })
      ),

      revokeLeaked: Effect.fnUntraced(function* ({ payload }) {
        yield* apiKeys
          .revokeLeaked(payload.key, yield* requestOrigin)
          .pipe(withMinimumDuration("50 millis"))
      }),

      rotate: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params, payload }) {
          const actor = yield* currentActor
          return yield* apiKeys.rotate(
            workspaceId,
            params.key_id,
            payload.grace_seconds ?? 0,
            actor
          )
        })
      ),

      delete: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params }) {
          yield* apiKeys.remove(workspaceId, params.key_id, yield* currentActor)
        })
      )
    })
  })
)
