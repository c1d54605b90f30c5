import { Clock, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Calls } from "./Calls.ts"
import { elapsedMs } from "../../core/index.ts"
import { AgentRunSearchOfNode } from "../workers/AgentRunSearch.ts"
import { claim, type ClaimOptions, findLeased, findUpcomingWork } from "../transitions/claim.ts"
import { handBack } from "../transitions/handBack.ts"
import type { EngineState } from "./EngineState.ts"
import { fire } from "../transitions/fire.ts"
import { firstPositionAt, type LanePosition } from "../laneTurns.ts"

const batch = 500

/**
 * How long tasks are gathered before they fire. Tasks fire seconds ahead of time, so this delays
 * none of them.
 */
const gatherMs = 100

/**
 * How long a due run may wait for a slot here. After that it is handed back, because another node
 * may have a slot.
 */
const waitForSlotMs = 1_000

const compareEveryMs = 30_000

/** Maximum number of claims per pass, so that firing has its turn too. */
const claimsPerPass = 6

/**
 * Runs that became due within this time are claimed separately, so that new runs do not wait behind
 * the backlog of other workspaces.
 */
const freshMs = 2_000

/** During this pause, many wake-ups (manual runs, freed slots) are handled in one pass. */
const minimumPauseMs = 2

/** The pause while there is a backlog but nothing could be claimed. */
const emptyPauseMs = 20

/**
 * One pass of the loop that finds and claims work:
 *
 * 1. `findWork`: one statement returns when the next task fires and the next run is due. If the
 *    database clock was in doubt, the node first hands back all runs that it holds.
 * 2. `fireSome`: tasks that are due within the look-ahead fire (`transitions/fire.ts`).
 * 3. `claimRound`: other due runs are claimed (`transitions/claim.ts`). If the claim has started a
 *    run, its call is made.
 * 4. `handBackWaiting`: due runs without a slot are handed back, because another node may have one.
 * 5. `compare`: every half minute, and after a lost response, the node adds runs that are leased to
 *    it in the database but not in its memory.
 * 6. The loop sleeps until there is more work, or until `claimWaker` wakes it.
 *
 * A node leases as many future runs as it can hold, but only as many overdue runs as it can start.
 *
 * As long as all work fits into one batch, runs are claimed in order of time. Otherwise lanes take
 * turns: see ADR 19.
 */
export const makeClaimer = Effect.fnUntraced(function* (
  engine: EngineState,
  calls: Calls
): Effect.fn.Return<Effect.Effect<void, SqlError.SqlError>, never, SqlClient.SqlClient> {
  const { claimWaker, leasedRuns, options } = engine
  const { lookAheadMs, pollMs } = options
  const { compare, handBackWaiting, startOver } = yield* makeLeases(engine)
  const findWork = yield* makeFindWork(engine, startOver)
  const fireSome = yield* makeFireSome(engine)
  const claimRound = yield* makeClaimRound(engine, calls)

  return Effect.gen(function* () {
    const upcoming = yield* findWork
    if (upcoming === undefined) return yield* Effect.sleep(pollMs)
    const horizonMs = upcoming.now_ms + lookAheadMs
    const { next_due_ms, next_fire_ms } = upcoming

    const hasMoreToFire =
      next_fire_ms !== null && next_fire_ms <= horizonMs ? yield* fireSome : false
    const claimHorizonMs = leasedRuns.roomAhead >= batch ? horizonMs : upcoming.now_ms
    // The backlog is also recorded before the claim, so that a slot that becomes free during the
    // claim starts another pass.
    const hasBacklog = next_due_ms !== null && next_due_ms <= claimHorizonMs
    engine.noteBacklog(hasBacklog)
    let hurry = hasMoreToFire
    let pauseMs = minimumPauseMs
    if (hasBacklog) {
      const claims = yield* claimRound(next_due_ms)
      engine.noteBacklog(claims.left)
      hurry ||= claims.hurry
      if (claims.left && claims.claimed === 0) pauseMs = emptyPauseMs
    }
    yield* handBackWaiting
    yield* compare

    if (!hurry) yield* claimWaker.wait(sleepMs(next_fire_ms, { horizonMs, pollMs }))
    yield* Effect.sleep(hurry ? minimumPauseMs : pauseMs)
  })
})

/**
 * Finds out when the next work is due. Returns undefined while the database clock is in doubt. Once
 * the clock is trusted again, the node starts over.
 */
const makeFindWork = Effect.fnUntraced(function* (
  { clock, dueFrom }: EngineState,
  startOver: Effect.Effect<void, SqlError.SqlError>
) {
  const sql = yield* SqlClient.SqlClient
  const search = yield* AgentRunSearchOfNode
  const wallClock = yield* Clock.Clock
  /** Whether the database clock was in doubt in the previous pass. */
  let wasDoubted = false

  return Effect.gen(function* () {
    const askedMs = elapsedMs(wallClock)
    const fromMs = dueFrom.at(askedMs)
    const upcoming = yield* clock.sample(findUpcomingWork(sql, fromMs, search.waiting > 0))
    if (clock.doubt !== undefined) {
      wasDoubted = true
      return undefined
    }
    if (wasDoubted) yield* startOver
    wasDoubted = false
    search.learn(upcoming, elapsedMs(wallClock))
    dueFrom.learn({
      fromMs,
      askedMs,
      answeredMs: elapsedMs(wallClock),
      nextDueMs: upcoming.next_due_ms,
      nowMs: upcoming.now_ms
    })
    return upcoming
  })
})

/** Fires a batch of tasks. Returns whether there are more to fire. */
const makeFireSome = Effect.fnUntraced(function* (engine: EngineState) {
  const sql = yield* SqlClient.SqlClient
  const { clock, leasedRuns, options } = engine
  const { lookAheadMs } = options
  /**
   * The position at which the next walk over the lanes continues. Null while all due tasks fit into
   * one batch.
   */
  let fireFrom: LanePosition | null = null

  return Effect.gen(function* () {
    const { fired, leased, queues, reached } = yield* engine.leasing(
      fire(sql, {
        node: engine.node,
        limit: batch,
        lookAheadMs,
        latestMs: clock.latestMs,
        turns: fireFrom,
        leases: (share) => leasedRuns.free > 0 && leasedRuns.mayHold(share)
      })
    )
    engine.count("fired", fired)
    engine.meters.batch("fire", fired)
    engine.hold(leased)
    engine.queues.checkAt(queues, clock.now())
    const isDone = fireFrom === null ? fired < batch : fired === 0 && reached === null
    fireFrom = isDone ? null : (reached ?? firstPositionAt(0))
    return !isDone
  })
})

/**
 * Claims the runs that are due from `nextDueMs` on, in a few statements. The first statement claims
 * in order of time. If not all runs fit, lanes take turns, and recent runs and the backlog are
 * walked separately. `left` says whether there may be runs that could not be claimed now, and
 * `hurry` whether the next pass must begin immediately.
 */
const makeClaimRound = Effect.fnUntraced(function* (engine: EngineState, calls: Calls) {
  const { budget, clock, leasedRuns, options } = engine
  const { concurrency, lookAheadMs } = options
  const claimSome = yield* makeClaimSome(engine, calls)
  const fresh = new Walk()
  const old = new Walk()

  return Effect.fnUntraced(function* (nextDueMs: number) {
    let claimed = 0
    fresh.begin()
    old.begin()
    for (let statement = 0; statement < claimsPerPass; statement++) {
      const now = clock.now()
      const limit = Math.min(batch, leasedRuns.room)
      const except = [...leasedRuns.saturated(now), ...budget.waiting]
      // A few free slots are worth a statement only if shares other than those with the most slots
      // can use them.
      if (limit <= 0 || (limit < concurrency / 32 && except.length === 0)) {
        return { claimed, left: true, hurry: false }
      }
      const exceptAhead = leasedRuns.holdingEnough()
      const ahead = leasedRuns.roomAhead >= batch ? lookAheadMs : 0
      if (statement === 0 && except.length === 0 && exceptAhead.length === 0) {
        const likely = Math.min(limit, leasedRuns.likelyRoom(now))
        const taken = yield* claimSome({
          limit: likely,
          lookAheadMs: ahead,
          from: firstPositionAt(nextDueMs),
          turns: null
        })
        claimed += taken.claimed
        if (taken.claimed < likely) return { claimed, left: ahead === 0, hurry: false }
        continue
      }
      const freshFromMs = Math.max(nextDueMs, now - freshMs)
      const walk =
        fresh.isDone || (old.steps < fresh.steps && nextDueMs < freshFromMs) ? old : fresh
      const taken = yield* claimSome({
        limit,
        lookAheadMs: ahead,
        from: walk.from(firstPositionAt(walk === fresh ? freshFromMs : nextDueMs)),
        turns: { except, exceptAhead }
      })
      claimed += taken.claimed
      walk.step(taken)
      if (fresh.isDone && (old.isDone || nextDueMs >= freshFromMs)) {
        return { claimed, left: except.length > 0 || ahead === 0, hurry: false }
      }
    }
    return { claimed, left: true, hurry: true }
  })
})

/** Claims runs with one statement, and makes the calls of runs that the statement has started. */
const makeClaimSome = Effect.fnUntraced(function* (engine: EngineState, calls: Calls) {
  const sql = yield* SqlClient.SqlClient
  const { clock, leasedRuns, startWaker } = engine

  return Effect.fnUntraced(function* (
    claiming: Pick<ClaimOptions, "limit" | "lookAheadMs" | "from" | "turns">
  ) {
    const owner = engine.node
    const { leased, parked, reached, started } = yield* engine.leasing(
      claim(sql, { node: owner, latestMs: clock.latestMs, ...claiming })
    )
    engine.count("claimed", leased.length + started.length)
    engine.meters.batch("claim", leased.length + started.length)
    engine.hold(leased)
    const admitted = leasedRuns.admit(started, clock.now())
    if (admitted.length < started.length) startWaker.wake()
    yield* calls.begin(admitted, owner)
    return { claimed: leased.length + started.length + parked, reached }
  }, Effect.uninterruptible)
})

/**
 * Keeps the leases of this node in agreement with the database, and hands back runs that have waited
 * too long for a slot.
 */
const makeLeases = Effect.fnUntraced(function* (engine: EngineState) {
  const sql = yield* SqlClient.SqlClient
  const { clock, leasedRuns } = engine
  const wallClock = yield* Clock.Clock
  let comparedAtMs = Number.NEGATIVE_INFINITY

  const handBackAll = (runs: ReadonlyArray<{ readonly id: string }>) => {
    const ids = runs.map(({ id }) => id)
    return ids.length === 0 ? Effect.void : engine.leasing(handBack(sql, engine.node, ids))
  }

  return {
    /** Hands back runs that have waited too long for a slot here. */
    handBackWaiting: Effect.suspend(() => {
      const now = clock.now()
      return handBackAll(leasedRuns.dropWaiting(now - waitForSlotMs, now))
    }),

    /**
     * Discards all times that this node knows, because a step of the clock may have made them
     * wrong.
     */
    startOver: Effect.suspend(() => {
      leasedRuns.forgetPauses()
      return handBackAll(leasedRuns.dropAll())
    }),

    /** Adds runs that are leased to this node without its knowledge. */
    compare: Effect.gen(function* () {
      if (!engine.takeDoubt() && elapsedMs(wallClock) < comparedAtMs + compareEveryMs) return
      engine.hold(yield* engine.leasing(findLeased(sql, engine.node)))
      comparedAtMs = elapsedMs(wallClock)
    })
  }
})

/**
 * Returns how long the loop sleeps between passes unless it is woken. Returns the maximum if no
 * task has a schedule.
 */
export const sleepMs = (
  nextFireMs: number | null,
  { horizonMs, pollMs }: { readonly horizonMs: number; readonly pollMs: number }
): number =>
  nextFireMs === null ? pollMs : Math.min(pollMs, Math.max(gatherMs, nextFireMs - horizonMs))

/**
 * A walk over the lanes that consists of several claims. Each claim continues where the previous
 * claim ended. After the last lane, the walk begins again.
 */
class Walk {
  #reached: LanePosition | null = null
  #isWhole = false
  /** Whether a complete walk found nothing. */
  isDone = false
  /** The number of claims since the walk began. */
  steps = 0

  begin(): void {
    this.#isWhole = false
    this.isDone = false
    this.steps = 0
  }

  from(beginning: LanePosition): LanePosition {
    if (this.#reached !== null && this.#reached.at_ms >= beginning.at_ms) return this.#reached
    this.#isWhole = true
    return beginning
  }

  step(taken: { readonly claimed: number; readonly reached: LanePosition | null }): void {
    this.steps++
    if (taken.claimed > 0) this.#isWhole = false
    this.#reached = taken.reached
    this.isDone = this.#isWhole && taken.reached === null
  }
}
