import type { Queue } from "@scheduling/sdk"

/** What a queue allows: "2 at once, 5 per second". */
export const limitInWords = ({
  max_concurrency,
  rate_per_second
}: Pick<Queue, "max_concurrency" | "rate_per_second">): string =>
  [
    max_concurrency === null ? [] : [`${max_concurrency} at once`],
    rate_per_second === null ? [] : [rateInWords(rate_per_second)]
  ]
    .flat()
    .join(", ")

/** Less than one per second is a time between two. */
const rateInWords = (perSecond: number) =>
  perSecond >= 1 ? `${perSecond} per second` : `one every ${Number((1 / perSecond).toFixed(2))} s`
