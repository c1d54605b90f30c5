import type { Queue } from "@scheduling/sdk"
import { recordQueries } from "../data/recordQueries.ts"

/** The queries for queues. All queues of a workspace fit on one page. */
export const queueQueries = recordQueries<Queue>("queues", ({ queues }) => queues)

/** The polling interval. Live events do not report the counts of a queue. */
export const pollQueuesMs = 5_000
