/** The limits that a workspace's plan sets, and how much of each is used. */
import { Layer } from "effect"
import { Limits } from "./Limits.ts"
import { LimitsRepo } from "./LimitsRepo.ts"
import { UsageRepo } from "./UsageRepo.ts"

export { Limits } from "./Limits.ts"
export { LimitsRepo } from "./LimitsRepo.ts"
export { type CountsBeforeDay, UsageRepo, type UsageRow } from "./UsageRepo.ts"
export { firstOfMonth, announcedPercentOf } from "./nearLimits.ts"
export { paymentGraceDays, subscriptionStatusOf } from "./subscriptionStatus.ts"

export const PlansLayer = Limits.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(LimitsRepo.layer, UsageRepo.layer))
)
