import type { Queue } from "@scheduling/sdk"
import { recordQueries } from "../data/recordQueries.ts"

/** All queues of a workspace fit on one page. */
export const queueQueries = recordQueries<Queue>("queues", ({ queues }) => queues)

/** Live events do not report the counts of a queue, so they are polled. */
export const pollQueuesMs = 5_000
