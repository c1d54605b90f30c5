import type { Price } from "@scheduling/domain/billing/Plan"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Conflict, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import type { PlanCatalog } from "../core/index.ts"

export const makePriceLookup = ({ assigned, plans }: PlanCatalog) => {
  const prices = new Map<string, Price & { readonly trial_days: number }>(
    [...plans.values()].flatMap((plan) =>
      plan.prices.map((price) => [price.id, { ...price, trial_days: plan.trial_days }])
    )
  )
  return {
    get: (id: string | undefined) => prices.get(id ?? ""),

    /**
     * Finds a price that the workspace can buy. A plan that the operator has assigned overrides a
     * purchased one.
     */
    findForSale: Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: string) {
      const price = prices.get(id)
      if (price === undefined) {
        return yield* ValidationFailed.at(
          ["price"],
          "not_found",
          "must be the id of a price in GET /v1/plans"
        )
      }
      if (assigned.has(workspaceId)) {
        return yield* new Conflict({
          resource: "subscription",
          message:
            "The operator has chosen the plan of this workspace, so no other plan can be bought."
        })
      }
      return price
    })
  }
}
