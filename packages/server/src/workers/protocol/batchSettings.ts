/**
 * The batch settings for heartbeats. Heartbeats of a thousand busy agents rarely arrive at the same
 * moment, so they wait for each other. The wait is short compared to the second within which users
 * expect a cancellation.
 */
export const heartbeatBatch = { apartMs: 100, maxBatch: 256 }

/** The batches of the frequent claims of idle agents. */
export const idleClaimBatch = { apartMs: 200, maxBatch: 256 }
