import type { Queue } from "@scheduling/sdk"

/** Describes a queue's limits: `2 concurrent, 5 per second`. */
export const describeLimits = ({
  max_concurrency,
  rate_per_second
}: Pick<Queue, "max_concurrency" | "rate_per_second">): string =>
  [
    max_concurrency === null ? [] : [`${max_concurrency} concurrent`],
    rate_per_second === null ? [] : [rateInWords(rate_per_second)]
  ]
    .flat()
    .join(", ")

/**
 * Describes a rate. A rate below one per second is described by the interval between two starts.
 */
const rateInWords = (perSecond: number) =>
  perSecond >= 1 ? `${perSecond} per second` : `one every ${Number((1 / perSecond).toFixed(2))} s`
