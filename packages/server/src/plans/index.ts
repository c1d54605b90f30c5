/** The limits of a workspace's plan, and the usage of each. */
import { Layer } from "effect"
import { Limits } from "./Limits.ts"
import { LimitsRepo } from "./LimitsRepo.ts"
import { UsageRepo } from "./UsageRepo.ts"

export { Limits } from "./Limits.ts"
export { LimitsRepo } from "./LimitsRepo.ts"
export { type UsageBefore, UsageRepo, type UsageRow } from "./UsageRepo.ts"
export { firstOfMonth, percentOf } from "./nearLimits.ts"
export { graceDays, subscriptionStatusOf } from "./subscriptionStatus.ts"

export const PlansLayer = Limits.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(LimitsRepo.layer, UsageRepo.layer))
)
