/**
 * The subscription of a workspace at the payment provider, and keeping workspaces to their plans.
 */
import { Layer } from "effect"
import { Billing } from "./Billing.ts"
import { KeepingToPlans, KeepingToPlansLayer } from "./KeepingToPlans.ts"
import { PlanPausesRepo } from "./PlanPausesRepo.ts"
import { Provider } from "./Provider.ts"
import { Subscriptions } from "./Subscriptions.ts"
import { SubscriptionsRepo } from "./SubscriptionsRepo.ts"
import { Syncing, SyncingLayer } from "./Syncing.ts"
import { UsageCounterLayer } from "./UsageCounter.ts"
import { BillingHandlers } from "./http.ts"
import { webhookRouteLayer } from "./webhookRoute.ts"

export const BillingLayer = Layer.mergeAll(
  BillingHandlers,
  webhookRouteLayer,
  SyncingLayer,
  UsageCounterLayer,
  KeepingToPlansLayer
).pipe(
  Layer.provide([Billing.layer, Subscriptions.layer]),
  Layer.provide(Syncing.layer),
  Layer.provide(KeepingToPlans.layer),
  Layer.provide(Provider.layer),
  Layer.provide([SubscriptionsRepo.layer, PlanPausesRepo.layer])
)
