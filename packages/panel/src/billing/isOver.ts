import type { Subscription } from "@scheduling/sdk"

/** Whether the subscription has ended for good, so that a plan has to be bought anew. */
export const isOver = ({ status }: Subscription): boolean =>
  status === "canceled" || status === "incomplete_expired"
