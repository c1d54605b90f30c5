import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { currentActor } from "../auth/currentActor.ts"
import { implement } from "../platform/implement.ts"
import { neverStored } from "../platform/neverStored.ts"
import { ApiKeys } from "./ApiKeys.ts"

export const ApiKeysHandlers = implement(
  Api,
  "apiKeys",
  Effect.fnUntraced(function* (handlers) {
    const apiKeys = yield* ApiKeys
    return handlers.handleAll({
      list: ({ params, query }) => apiKeys.list(params.workspace_id, query),

      get: ({ params }) => apiKeys.get(params.workspace_id, params.key_id),

      create: Effect.fnUntraced(function* ({ params, payload }) {
        const actor = yield* currentActor
        yield* neverStored
        return yield* apiKeys.create(params.workspace_id, payload, actor)
      }),

      revoke: Effect.fnUntraced(function* ({ params }) {
        return yield* apiKeys.revoke(params.workspace_id, params.key_id, yield* currentActor)
      }),

      rotate: Effect.fnUntraced(function* ({ params, payload }) {
        const actor = yield* currentActor
        yield* neverStored
        return yield* apiKeys.rotate(
          params.workspace_id,
          params.key_id,
          payload.grace_seconds ?? 0,
          actor
        )
      }),

      remove: Effect.fnUntraced(function* ({ params }) {
        yield* apiKeys.remove(params.workspace_id, params.key_id, yield* currentActor)
      })
    })
  })
)
