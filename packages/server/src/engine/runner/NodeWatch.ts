import { Clock, Effect, Random } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Completions } from "../completions/Completions.ts"
import type { NodeUptime } from "../completions/awaitingRuns.ts"
import { type EndSignals, LiveChanges, type Signals } from "../../events/index.ts"
import { elapsedMs, runAllInSequence } from "../../core/index.ts"
import { checkNodes } from "../Nodes.ts"
import { parkStopped } from "../transitions/parkStopped.ts"
import { recover } from "../transitions/recover.ts"
import { finishUnclaimed } from "../workers/finishUnclaimed.ts"
import type { Admitter } from "./Admitter.ts"
import type { EngineState } from "./EngineState.ts"
import type { NodeMembership } from "./NodeMembership.ts"

const everyMs = 1_000

/**
 * One pass of watching nodes, agents and jobs:
 *
 * 1. For one second, runs whose completion becomes overdue are finished at their deadlines.
 * 2. One statement checks nodes and agents (`checkNodes`). It also releases blocked runs that have
 *    missed their release.
 * 3. Runs of dead nodes and agents are recovered.
 * 4. Runs for workers of stopped workspaces are parked. Runs that no worker claimed in time are
 *    finished, and so are runs whose completion is overdue.
 * 5. The next named queues with parked runs are passed to the loop that admits them.
 *
 * A node that has just started, or for which the database clock is in doubt, declares nothing dead
 * or overdue.
 */
export const makeNodeWatch = Effect.fnUntraced(function* (
  engine: EngineState,
  { mayCheckNodes, mayCheckAgents, connectedForMs }: NodeMembership,
  walk: Admitter["walk"]
): Effect.fn.Return<
  Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient | Signals | EndSignals>,
  never,
  SqlClient.SqlClient | Completions
> {
  const sql = yield* SqlClient.SqlClient
  const changes = yield* LiveChanges
  const { endOverdue } = yield* Completions
  let completionDueInMs: number | null = null

  const uptime = (): NodeUptime | undefined =>
    mayCheckNodes() && engine.clock.doubt === undefined
      ? { forMs: connectedForMs(), isLong: mayCheckAgents(), latestMs: engine.clock.latestMs }
      : undefined

  const recoverLost = Effect.gen(function* () {
    const lost = yield* recover(sql, "dead", "perhaps going on")
    yield* Effect.logWarning(
      `recovered the runs of a dead node or agent; ${lost} of them had started`
    )
    engine.dueFrom.forget()
    // The dead node may have written changes without publishing them.
    changes.resetAll()
    engine.claimWaker.wake()
  })

  return Effect.gen(function* () {
    const dueInMs = completionDueInMs
    completionDueInMs = null
    yield* endOverdueWithin(everyMs, dueInMs, endOverdue, uptime)
    const present = uptime()
    if (present === undefined) return
    const checked = yield* engine.clock.sample(checkNodes(sql, present))
    if (engine.clock.doubt !== undefined) return
    completionDueInMs = checked.completion_due_in_ms
    if (checked.released) engine.claimWaker.wake()
    yield* runAllInSequence([
      checked.to_take_back ? recoverLost : Effect.void,
      checked.some_stopped ? parkStopped(sql) : Effect.void,
      checked.unclaimed ? finishUnclaimed(sql, present.isLong) : Effect.void,
      checked.overdue ? endOverdue(present) : Effect.void,
      checked.parked ? walk : Effect.void
    ])
  })
})

/** Deadlines this close together are handled by one statement. */
const gatherMs = 50

/**
 * The maximum random delay. All nodes know the same deadline, and the first node that acts on it
 * leaves no work for the others.
 */
const spreadMs = 50

/**
 * Waits for `waitMs` and finishes overdue attempts at their deadlines during the wait. `dueInMs` is
 * the time until the first deadline. If the wait contains no deadline, no statement runs.
 */
const endOverdueWithin = Effect.fnUntraced(function* (
  waitMs: number,
  dueInMs: number | null,
  endOverdue: Completions["Service"]["endOverdue"],
  /** Returns undefined if this node may not check others. */
  uptime: () => NodeUptime | undefined
) {
  const clock = yield* Clock.Clock
  const endsAtMs = elapsedMs(clock) + waitMs
  const leftMs = () => Math.max(0, endsAtMs - elapsedMs(clock))
  for (let nextMs = dueInMs; nextMs !== null && nextMs < leftMs();) {
    yield* Effect.sleep(Math.max(0, nextMs) + gatherMs + (yield* Random.next) * spreadMs)
    const now = uptime()
    nextMs = now === undefined ? null : yield* endOverdue(now)
  }
  yield* Effect.sleep(leftMs())
})
