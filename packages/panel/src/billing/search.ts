import { given, oneOf } from "../ui/lists/search.ts"

/** How somebody came back from the page on which to pay. */
export type CheckoutOutcome = "done" | "cancelled"

export const usageSearch = ({
  checkout
}: Record<string, unknown>): { readonly checkout?: CheckoutOutcome } =>
  given({ checkout: oneOf(["done", "cancelled"], checkout) })
