import type { Queue } from "@scheduling/sdk"
import { recordQueries } from "../data/recordQueries.ts"

/** The queries for queues. All of a workspace's queues fit on one page. */
export const queueQueries = recordQueries<Queue>("queues", ({ queues }) => queues)

/** The polling interval. Live events do not report a queue's counts. */
export const pollQueuesMs = 5_000
