import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { DateTime, Effect, Option } from "effect"
import { AppConfig, plansByPrice } from "../core/index.ts"
import { LimitsRepo } from "./LimitsRepo.ts"
import { subscriptionStatusOf } from "./subscriptionStatus.ts"

/**
 * Creates the function that finds a workspace's plan. The database is queried only if plans are for
 * sale.
 */
export const planFinder = Effect.gen(function* () {
  const { plans: catalog, stripeSecretKey } = yield* AppConfig
  const repo = yield* LimitsRepo
  const byPrice = plansByPrice(catalog)

  return Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId) {
    const assigned = catalog.plans.get(catalog.assigned.get(workspaceId) ?? "")
    if (assigned !== undefined) return assigned
    if (stripeSecretKey === undefined) return catalog.byDefault
    const bought = Option.getOrUndefined(yield* repo.findSubscription(workspaceId))
    if (bought === undefined || !subscriptionStatusOf(bought, yield* DateTime.nowAsDate).holds) {
      return catalog.byDefault
    }
    return byPrice.get(bought.price_id ?? "") ?? catalog.byDefault
  })
})
