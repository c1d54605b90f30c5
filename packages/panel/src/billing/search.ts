import { oneOf, searchOf } from "../ui/lists/search.ts"

/** `checkout` says how the user came back from the payment page. */
export const usageSearch = searchOf({ checkout: oneOf(["done", "cancelled"]) })

export type CheckoutOutcome = NonNullable<ReturnType<typeof usageSearch>["checkout"]>
