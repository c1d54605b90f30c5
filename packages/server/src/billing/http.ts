import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { currentActor } from "../accounts/index.ts"
import { implement, inWorkspace } from "../http/index.ts"
import { Billing } from "./Billing.ts"
import { Subscriptions } from "./Subscriptions.ts"

export const BillingHandlers = implement(
  Api,
  "billing",
  Effect.fnUntraced(function* (handlers) {
    const billing = yield* Billing
    const subscriptions = yield* Subscriptions
    return handlers.handleAll({
      get: inWorkspace((workspaceId) => billing.get(workspaceId)),

      getUsage: inWorkspace((workspaceId, { query }) => billing.usage(workspaceId, query)),

      checkout: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { payload }) {
          const actor = yield* currentActor
          return { url: yield* subscriptions.checkout(workspaceId, payload.price, actor) }
        })
      ),

      portal: inWorkspace(
        Effect.fnUntraced(function* (workspaceId) {
          return { url: yield* subscriptions.portal(workspaceId, yield* currentActor) }
        })
      ),

      change: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { payload }) {
          yield* subscriptions.change(workspaceId, payload.price, yield* currentActor)
          return yield* billing.get(workspaceId)
        })
      ),

      cancel: inWorkspace(
        Effect.fnUntraced(function* (workspaceId) {
          yield* subscriptions.cancel(workspaceId, yield* currentActor)
          return yield* billing.get(workspaceId)
        })
      ),

      resume: inWorkspace(
        Effect.fnUntraced(function* (workspaceId) {
          yield* subscriptions.resume(workspaceId, yield* currentActor)
          return yield* billing.get(workspaceId)
        })
      ),

      listInvoices: inWorkspace((workspaceId) =>
        Effect.map(subscriptions.invoices(workspaceId), (data) => ({ data }))
      ),

      listPlans: () => Effect.succeed({ data: billing.plans })
    })
  })
)
