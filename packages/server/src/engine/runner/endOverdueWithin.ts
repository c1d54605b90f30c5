import { Clock, Effect, Random } from "effect"
import type { Completions } from "../completions/Completions.ts"
import { elapsedMs } from "../../core/index.ts"
import type { Presence } from "../completions/awaitingRuns.ts"

/** Deadlines this close together are handled by one statement. */
const gatherMs = 50

/** All nodes know the same deadline. Whoever is first leaves nothing to the others. */
const spreadMs = 50

/**
 * Waits that long, and ends overdue attempts at their times meanwhile. `dueInMs` is the time until
 * the first of them. As long as none is due, it makes no statement.
 */
export const endOverdueWithin = Effect.fnUntraced(function* (
  waitMs: number,
  dueInMs: number | null,
  endOverdue: Completions["Service"]["endOverdue"],
  /** Undefined if this node may not decide about others. */
  presence: () => Presence | undefined
) {
  const clock = yield* Clock.Clock
  const endsAtMs = elapsedMs(clock) + waitMs
  const leftMs = () => Math.max(0, endsAtMs - elapsedMs(clock))
  for (let nextMs = dueInMs; nextMs !== null && nextMs < leftMs();) {
    yield* Effect.sleep(Math.max(0, nextMs) + gatherMs + (yield* Random.next) * spreadMs)
    const now = presence()
    nextMs = now === undefined ? null : yield* endOverdue(now)
  }
  yield* Effect.sleep(leftMs())
})
