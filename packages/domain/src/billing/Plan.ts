import { Schema } from "effect"
import { Limits } from "./Limits.ts"

export const PlanId = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9_]{0,39}$/, {
    expected: "up to 40 lower-case letters, digits and underscores, starting with a letter"
  })
).annotate({ description: "The id of the plan.", examples: ["self_hosted"] })
export type PlanId = typeof PlanId.Type

export const Price = Schema.Struct({
  id: Schema.String.check(Schema.isPattern(/^[\w-]{1,100}$/)).annotate({
    description: "The id of the price at the payment provider.",
    examples: ["price_1SVqTeam"]
  }),
  currency: Schema.String.check(
    Schema.isPattern(/^[a-z]{3}$/, { expected: "a currency such as eur" })
  ).annotate({ description: "The three-letter currency code.", examples: ["eur"] }),
  amount: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000_000 })).annotate({
    description: "The amount in the smallest unit of the currency, such as cents.",
    examples: [1900]
  }),
  interval: Schema.Literals(["month", "year"]).annotate({
    description: "How often the amount is charged."
  })
}).annotate({ identifier: "Price" })
export type Price = typeof Price.Type

export const Plan = Schema.Struct({
  id: PlanId,
  name: Schema.String.check(Schema.isBetweenLength(1, 100)).annotate({
    description: "The display name.",
    examples: ["Team"]
  }),
  limits: Limits.annotate({ description: "The limits of the plan." }),
  trial_days: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 730 })).annotate({
    description:
      "The length of the free trial of the first subscription, in days. 0 means no trial."
  }),
  prices: Schema.Array(Price).check(Schema.isMaxLength(10)).annotate({
    description: "The prices of the plan. Empty if it cannot be bought."
  })
}).annotate({
  identifier: "Plan",
  description: "A plan: its limits and prices."
})
export type Plan = typeof Plan.Type
