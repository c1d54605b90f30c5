/** Workspaces' subscriptions at the payment provider, and the enforcement of plans. */
import { Layer } from "effect"
import { Billing } from "./Billing.ts"
import { PlanEnforcement, PlanEnforcementLayer } from "./PlanEnforcement.ts"
import { PlanPausesRepo } from "./PlanPausesRepo.ts"
import { PaymentProvider } from "./PaymentProvider.ts"
import { Subscriptions } from "./Subscriptions.ts"
import { SubscriptionsRepo } from "./SubscriptionsRepo.ts"
import { SubscriptionSync, SubscriptionSyncLayer } from "./SubscriptionSync.ts"
import { UsageCounterLayer } from "./UsageCounter.ts"
import { BillingHandlers } from "./http.ts"
import { webhookRouteLayer } from "./webhookRoute.ts"

export const BillingLayer = Layer.mergeAll(
  BillingHandlers,
  webhookRouteLayer,
  SubscriptionSyncLayer,
  UsageCounterLayer,
  PlanEnforcementLayer
).pipe(
  Layer.provide([Billing.layer, Subscriptions.layer]),
  Layer.provide(SubscriptionSync.layer),
  Layer.provide(PlanEnforcement.layer),
  Layer.provide(PaymentProvider.layer),
  Layer.provide([SubscriptionsRepo.layer, PlanPausesRepo.layer])
)
