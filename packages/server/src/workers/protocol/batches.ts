/**
 * How beats share a statement. Beats of a thousand busy agents hardly ever arrive at the same
 * moment, so they wait for each other, for much less than the second within which people expect a
 * cancellation.
 */
export const beatBatch = { apartMs: 100, maxBatch: 256 }

/** How claims of idle agents share a statement. */
export const idleClaimBatch = { apartMs: 200, maxBatch: 256 }
