import { oneOf, searchOf } from "../ui/lists/search.ts"

/** The search parameters of the usage page. `checkout` says how the user left the payment page. */
export const usageSearch = searchOf({ checkout: oneOf(["done", "cancelled"]) })

export type CheckoutOutcome = NonNullable<ReturnType<typeof usageSearch>["checkout"]>
