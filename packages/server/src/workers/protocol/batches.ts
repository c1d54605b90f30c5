/**
 * How beats share statements. Those of a thousand busy agents hardly ever arrive in the same moment.
 * The delay is far below the second after which people expect a cancellation to hold.
 */
export const beatsTogether = { apartMs: 100, maxBatch: 256 }

/** How claims of agents that have nothing to do share theirs. */
export const idleClaimsTogether = { apartMs: 200, maxBatch: 256 }
