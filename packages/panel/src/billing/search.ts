import { oneOf, searchOf } from "../ui/lists/search.ts"

/** `checkout` is the outcome of the payment page. */
export const usageSearch = searchOf({ checkout: oneOf(["done", "cancelled"]) })

export type CheckoutOutcome = NonNullable<ReturnType<typeof usageSearch>["checkout"]>
