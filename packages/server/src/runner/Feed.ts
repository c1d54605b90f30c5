import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Calls } from "./Calls.ts"
import { claim, type ClaimOptions, findLeased, findUpcoming, handBack } from "./Claim.ts"
import type { Engine } from "./Engine.ts"
import { fire } from "./Fire.ts"
import type { LeasedRun } from "./Run.ts"
import { beginningOf, type Place } from "./Turns.ts"

const batch = 500

/** Firing looks seconds ahead: gathering what enters the look-ahead for so long makes nothing late. */
const gatherMs = 100

/** Leased and due for so long without a slot: another node may have one. */
const waitForSlotMs = 1_000

const compareEveryMs = 30_000

/** Claims of one round, so that firing has its turn too. */
const claimsPerRound = 6

/** Who comes new is found here, before the backlog of others. */
const freshMs = 2_000

/** A flood of wakes (manual runs, freed slots) is answered by batches. */
const minimumPauseMs = 2

/** While there is a backlog that nothing could be taken from. */
const fruitlessPauseMs = 20

/**
 * One round of getting work: fire what the schedules name, claim what else is due, give back what
 * does not get its turn here, and sleep until there is more. A node leases ahead of time what it can
 * hold, but of what is overdue only as much as it can start.
 *
 * As long as everything that is there fits into one batch, it is taken as it comes. Otherwise lanes
 * take turns: see decision 19.
 */
export const makeFeed = Effect.fnUntraced(function* (
  engine: Engine,
  calls: Calls,
  node: () => number
): Effect.fn.Return<Effect.Effect<void, SqlError.SqlError>, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const { budget, clock, counts, dueFrom, feedBell, intake, options, startBell } = engine
  const { concurrency, lookAheadMs, pollMs } = options
  let comparedAtMs = 0
  /** Where the turns of firing go on; null while all that is due fits into a batch. */
  let fireFrom: Place | null = null
  const fresh = new Walk()
  const old = new Walk()

  /** A statement whose answer is lost may have leased runs that nobody here knows of. */
  const leasing = <A, E>(statement: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.uninterruptible(
      Effect.tapError(statement, () =>
        Effect.sync(() => {
          engine.unsure = true
        })
      )
    )

  const take = (runs: ReadonlyArray<LeasedRun>): void => {
    if (runs.length === 0) return
    intake.add(runs, clock.now())
    startBell.ring()
  }

  /** Answers whether there is more to fire. */
  const fireSome = Effect.gen(function* () {
    const { fired, leased, reached } = yield* leasing(
      fire(sql, {
        node: node(),
        limit: batch,
        lookAheadMs,
        turns: fireFrom,
        leases: (share) => intake.free > 0 && intake.mayHold(share)
      })
    )
    counts.fired += fired
    take(leased)
    const isDone = fireFrom === null ? fired < batch : fired === 0 && reached === null
    fireFrom = isDone ? null : (reached ?? beginningOf(0))
    return !isDone
  })

  const claimSome = Effect.fnUntraced(function* (
    claiming: Pick<ClaimOptions, "limit" | "lookAheadMs" | "from" | "turns">
  ) {
    const owner = node()
    const askedMs = clock.now()
    const { leased, reached, started } = yield* leasing(claim(sql, { node: owner, ...claiming }))
    counts.claimed += leased.length + started.length
    take(leased)
    const admitted = intake.admit(started, clock.now())
    if (admitted.length < started.length) startBell.ring()
    yield* calls.begin(admitted, owner, askedMs)
    return { claimed: leased.length + started.length, reached }
  }, Effect.uninterruptible)

  /** Takes what is due from then on. */
  const claimAll = Effect.fnUntraced(function* (nextDueMs: number) {
    let claimed = 0
    fresh.begin()
    old.begin()
    for (let statement = 0; statement < claimsPerRound; statement++) {
      const now = clock.now()
      const limit = Math.min(batch, intake.room)
      const except = [...intake.saturated(now), ...budget.waiting]
      // A few at a time are worth a statement only if they are of others than those who have most slots.
      if (limit <= 0 || (limit < concurrency / 32 && except.length === 0)) {
        return { claimed, left: true, hurry: false }
      }
      const exceptAhead = intake.holdingEnough()
      const ahead = intake.roomAhead >= batch ? lookAheadMs : 0
      if (statement === 0 && except.length === 0 && exceptAhead.length === 0) {
        const taken = yield* claimSome({
          limit,
          lookAheadMs: ahead,
          from: beginningOf(nextDueMs),
          turns: null
        })
        claimed += taken.claimed
        if (taken.claimed < limit) return { claimed, left: ahead === 0, hurry: false }
        continue
      }
      const freshFromMs = Math.max(nextDueMs, now - freshMs)
      const walk =
        fresh.isDone || (old.steps < fresh.steps && nextDueMs < freshFromMs) ? old : fresh
      const taken = yield* claimSome({
        limit,
        lookAheadMs: ahead,
        from: walk.from(beginningOf(walk === fresh ? freshFromMs : nextDueMs)),
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

  const giveBack = Effect.gen(function* () {
    const now = clock.now()
    const waiting = intake.dropWaiting(now - waitForSlotMs, now)
    if (waiting.length > 0) {
      yield* leasing(
        handBack(
          sql,
          node(),
          waiting.map((run) => run.id)
        )
      )
    }
  })

  /** Takes on what is leased to this node without its knowing. */
  const compare = Effect.gen(function* () {
    if (!engine.unsure && clock.now() < comparedAtMs + compareEveryMs) return
    engine.unsure = false
    take(yield* leasing(findLeased(sql, node())))
    comparedAtMs = clock.now()
  })

  return Effect.gen(function* () {
    const askedMs = clock.now()
    const fromMs = dueFrom.at(askedMs)
    const upcoming = yield* clock.sample(findUpcoming(sql, fromMs))
    dueFrom.learn({
      fromMs,
      askedMs,
      answeredMs: clock.now(),
      nextDueMs: upcoming.next_due_ms,
      nowMs: upcoming.now_ms
    })
    const horizonMs = upcoming.now_ms + lookAheadMs
    const { next_due_ms, next_fire_ms } = upcoming

    const hasMoreToFire =
      next_fire_ms !== null && next_fire_ms <= horizonMs ? yield* fireSome : false
    const claimHorizonMs = intake.roomAhead >= batch ? horizonMs : upcoming.now_ms
    // Set while claiming too: a slot that gets free meanwhile must ring for the next round.
    engine.backlog = next_due_ms !== null && next_due_ms <= claimHorizonMs
    let hurry = hasMoreToFire
    let pauseMs = minimumPauseMs
    if (next_due_ms !== null && engine.backlog) {
      const claims = yield* claimAll(next_due_ms)
      engine.backlog = claims.left
      hurry ||= claims.hurry
      if (claims.left && claims.claimed === 0) pauseMs = fruitlessPauseMs
    }
    yield* giveBack
    yield* compare

    const untilFire =
      next_fire_ms === null || next_fire_ms <= horizonMs
        ? gatherMs
        : Math.max(gatherMs, next_fire_ms - horizonMs)
    if (!hurry) yield* feedBell.wait(Math.min(pollMs, untilFire))
    yield* Effect.sleep(hurry ? minimumPauseMs : pauseMs)
  })
})

/** The turns of claims: each goes on where the one before it ended, and begins again at the end. */
class Walk {
  #place: Place | null = null
  #isWhole = false
  /** From the beginning to the end it found nothing. */
  isDone = false
  /** Since it began. */
  steps = 0

  begin(): void {
    this.#isWhole = false
    this.isDone = false
    this.steps = 0
  }

  from(beginning: Place): Place {
    if (this.#place !== null && this.#place.at_ms >= beginning.at_ms) return this.#place
    this.#isWhole = true
    return beginning
  }

  step(taken: { readonly claimed: number; readonly reached: Place | null }): void {
    this.steps++
    if (taken.claimed > 0) this.#isWhole = false
    this.#place = taken.reached
    this.isDone = this.#isWhole && taken.reached === null
  }
}
