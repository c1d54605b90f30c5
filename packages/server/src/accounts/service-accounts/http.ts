import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement, inWorkspace } from "../../http/index.ts"
import { currentActor } from "../audit/currentActor.ts"
import { ServiceAccounts } from "./ServiceAccounts.ts"

export const ServiceAccountsHandlers = implement(
  Api,
  "serviceAccounts",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* ServiceAccounts
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => accounts.list(workspaceId, query)),

      get: inWorkspace((workspaceId, { params }) =>
        accounts.get(workspaceId, params.service_account_id)
      ),

      create: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { payload }) {
          return yield* accounts.create(workspaceId, payload, yield* currentActor)
        })
      ),

      update: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params, payload }) {
          const actor = yield* currentActor
          return yield* accounts.update(workspaceId, params.service_account_id, payload, actor)
        })
      ),

      rotate: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params, payload }) {
          const actor = yield* currentActor
          return yield* accounts.rotate(
            workspaceId,
            params.service_account_id,
            payload.grace_seconds ?? 0,
            actor
          )
        })
      ),

      delete: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params }) {
          yield* accounts.remove(workspaceId, params.service_account_id, yield* currentActor)
        })
      )
    })
  })
)
