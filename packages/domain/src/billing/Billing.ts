import { Schema } from "effect"
import { oneOf } from "../shared/oneOf.ts"
import { Timestamp, createdAt } from "../shared/Timestamp.ts"
import { Plan, PlanId, Price } from "./Plan.ts"

export const UsedLimit = Schema.Struct({
  quota: Schema.String.annotate({ description: "The name of the limit." }),
  used: Schema.Int.annotate({ description: "The current usage." }),
  limit: Schema.NullOr(Schema.Int).annotate({ description: "The limit. Null if there is none." })
}).annotate({
  identifier: "UsedLimit",
  examples: [{ quota: "cron_tasks", used: 12, limit: 10_000 }]
})
export type UsedLimit = typeof UsedLimit.Type

export const BillingProvider = oneOf(["none", "stripe"], {
  identifier: "BillingProvider",
  description: "`none` if billing is off."
})

/** A subscription. `status` is the state at the payment provider. */
export const Subscription = Schema.Struct({
  status: Schema.String.annotate({
    description:
      "The status: `trialing`, `active`, `past_due`, `unpaid`, `canceled`, `paused`, `incomplete` or another.",
    examples: ["active"]
  }),
  plan: Schema.NullOr(PlanId).annotate({ description: "The purchased plan." }),
  price: Schema.NullOr(Schema.String).annotate({
    description: "The id of the current price.",
    examples: ["price_1SVqTeam"]
  }),
  next_price: Schema.NullOr(Schema.String).annotate({
    description:
      "The id of the price that applies after the current period. Null if the price does not change.",
    examples: [null]
  }),
  current_period_end: Schema.NullOr(Timestamp).annotate({
    description: "The end of the paid period."
  }),
  cancel_at: Schema.NullOr(Timestamp).annotate({
    description: "When the subscription ends. Null if it continues."
  }),
  plan_ends_at: Schema.NullOr(Timestamp).annotate({
    description:
      "When the plan ends unless the overdue payment is made. Null if no payment is overdue."
  })
}).annotate({ identifier: "Subscription" })
export type Subscription = typeof Subscription.Type

export const WorkspaceBilling = Schema.Struct({
  provider: BillingProvider,
  plan: Plan,
  subscription: Schema.NullOr(Subscription).annotate({
    description: "The subscription. Null if there never was one."
  }),
  usage: Schema.Array(UsedLimit).annotate({ description: "The usage of each limit." })
}).annotate({ identifier: "WorkspaceBilling" })
export type WorkspaceBilling = typeof WorkspaceBilling.Type

export const PriceChoice = Schema.Struct({
  price: Price.fields.id.annotate({ description: "The id of a price in `GET /v1/plans`." })
}).annotate({ identifier: "PriceChoice", examples: [{ price: "price_1SVqTeam" }] })

export const BillingPage = Schema.Struct({
  url: Schema.String.annotate({
    description: "The URL of the payment provider's page. Open it in a browser.",
    examples: ["https://checkout.stripe.com/c/pay/cs_test_a1"]
  })
}).annotate({ identifier: "BillingPage" })

export const Invoice = Schema.Struct({
  id: Schema.String.annotate({
    description: "The id of the invoice at the payment provider.",
    examples: ["in_1SVqZ2"]
  }),
  number: Schema.NullOr(Schema.String).annotate({
    description: "The number on the invoice. Null while it is a draft.",
    examples: ["3F2A-0001"]
  }),
  status: Schema.NullOr(Schema.String).annotate({
    description: "The status: `draft`, `open`, `paid`, `uncollectible`, `void` or another.",
    examples: ["paid"]
  }),
  currency: Price.fields.currency,
  total: Schema.Int.annotate({ description: "The total in the smallest unit of the currency." }),
  url: Schema.NullOr(Schema.String).annotate({
    description: "The URL of a page that shows the invoice and accepts payment.",
    examples: ["https://invoice.stripe.com/i/acct_1/test_a1"]
  }),
  created_at: createdAt
}).annotate({ identifier: "Invoice" })
export type Invoice = typeof Invoice.Type

export const Invoices = Schema.Struct({
  data: Schema.Array(Invoice).annotate({ description: "The latest 100 invoices, newest first." })
}).annotate({ identifier: "Invoices" })
