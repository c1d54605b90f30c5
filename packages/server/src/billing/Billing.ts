import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Subscription, WorkspaceBilling } from "@scheduling/domain/billing/Billing"
import type { Plan } from "@scheduling/domain/billing/Plan"
import { type Day, type Usage, usageRange } from "@scheduling/domain/billing/Usage"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Context, DateTime, Effect, Layer, Option, Result } from "effect"
import { AppConfig, plansByPrice } from "../core/index.ts"
import { Limits, subscriptionStatusOf, UsageRepo } from "../plans/index.ts"
import { timestampOrNull } from "../store/index.ts"
import { type SubscriptionRow, SubscriptionsRepo } from "./SubscriptionsRepo.ts"
import { billedUsage } from "./billedUsage.ts"

export class Billing extends Context.Service<
  Billing,
  {
    readonly plans: ReadonlyArray<Plan>
    readonly get: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<WorkspaceBilling>
    readonly usage: (
      workspaceId: AuthorizedWorkspaceId,
      query: { readonly from?: Day; readonly to?: Day }
    ) => Effect.Effect<Usage, ValidationFailed>
  }
>()("@scheduling/server/billing/Billing") {
  static readonly layer: Layer.Layer<
    Billing,
    never,
    AppConfig | Limits | SubscriptionsRepo | UsageRepo
  > = Layer.effect(
    Billing,
    Effect.gen(function* () {
      const { plans, stripeSecretKey } = yield* AppConfig
      const limits = yield* Limits
      const repo = yield* UsageRepo
      const subscriptions = yield* SubscriptionsRepo
      const byPrice = plansByPrice(plans)

      const toSubscription = (row: SubscriptionRow, now: Date): Subscription | null =>
        row.status === null
          ? null
          : {
              status: row.status,
              plan: byPrice.get(row.price_id ?? "")?.id ?? null,
              price: row.price_id,
              next_price: row.next_price_id,
              current_period_end: timestampOrNull(row.period_end),
              cancel_at: timestampOrNull(row.cancel_at),
              plan_ends_at: timestampOrNull(
                subscriptionStatusOf({ ...row, status: row.status }, now).until
              )
            }

      return Billing.of({
        plans: [...plans.plans.values()],

        get: Effect.fn("Billing.get")(function* (workspaceId) {
          const isSold = stripeSecretKey !== undefined
          const row = isSold ? yield* subscriptions.find(workspaceId) : Option.none()
          const now = yield* DateTime.nowAsDate
          return {
            provider: isSold ? ("stripe" as const) : ("none" as const),
            plan: yield* limits.planOf(workspaceId),
            subscription: Option.isSome(row) ? toSubscription(row.value, now) : null,
            usage: yield* limits.used(workspaceId)
          }
        }),

        usage: Effect.fn("Billing.usage")(function* (workspaceId, query) {
          const range = usageRange(query, yield* DateTime.nowAsDate)
          if (Result.isFailure(range)) {
            return yield* new ValidationFailed({ issues: [range.failure] })
          }
          const { from, to } = range.success
          const before = yield* repo.findBefore(workspaceId, from)
          const rows = yield* repo.list(workspaceId, from, to)
          return { data: billedUsage(rows, { from, to, before }) }
        })
      })
    })
  )
}
