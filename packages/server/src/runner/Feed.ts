import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Calls } from "./Calls.ts"
import { claim, findLeased, findUpcoming, handBack } from "./Claim.ts"
import type { Engine } from "./Engine.ts"
import { fire } from "./Fire.ts"
import type { LeasedRun } from "./Run.ts"

const batch = 500

/** Firing looks seconds ahead: gathering what enters the look-ahead for so long makes nothing late. */
const gatherMs = 100

/** Leased and due for so long without a slot: another node may have one. */
const waitForSlotMs = 1_000

const compareEveryMs = 30_000

/**
 * One round of getting work: fire what the schedules name, claim what else is due, give back what
 * does not get its turn here, and sleep until there is more. A node leases ahead of time what it can
 * hold, but of what is overdue only as much as it can start.
 */
export const makeFeed = Effect.fnUntraced(function* (
  engine: Engine,
  calls: Calls,
  node: () => number
): Effect.fn.Return<Effect.Effect<void, SqlError.SqlError>, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const { budget, clock, counts, feedBell, intake, options, startBell } = engine
  const { concurrency, lookAheadMs, maxHeld, pollMs } = options
  let comparedAtMs = 0

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
    intake.add(runs)
    startBell.ring()
  }

  const fireAll = Effect.gen(function* () {
    for (;;) {
      const lease = intake.free > 0 && intake.held + batch <= maxHeld
      const { fired, leased } = yield* leasing(
        fire(sql, { node: node(), limit: batch, lookAheadMs, lease })
      )
      counts.fired += fired
      take(leased)
      if (fired < batch) return
    }
  })

  /** Answers how many there were. */
  const claimSome = Effect.fnUntraced(function* (limit: number, except: ReadonlyArray<string>) {
    const owner = node()
    const askedMs = clock.now()
    const { leased, started } = yield* leasing(
      claim(sql, { node: owner, limit, lookAheadMs, except })
    )
    counts.claimed += leased.length + started.length
    take(leased)
    yield* calls.begin(intake.admit(started), owner, askedMs)
    return leased.length + started.length
  }, Effect.uninterruptible)

  /** Answers whether something may be left that this node has no room for. */
  const claimAll = Effect.gen(function* () {
    for (;;) {
      const limit = Math.min(batch, intake.room, maxHeld - intake.held)
      const except = [...intake.saturated(), ...budget.waiting]
      // A few at a time are worth a statement only if they are of others than those who have most slots.
      if (limit <= 0 || (limit < concurrency / 32 && except.length === 0)) return true
      if ((yield* claimSome(limit, except)) < limit) return except.length > 0
    }
  })

  const giveBack = Effect.gen(function* () {
    const waiting = intake.dropWaiting(clock.now() - waitForSlotMs)
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
    const upcoming = yield* clock.sample(findUpcoming(sql))
    const horizonMs = upcoming.now_ms + lookAheadMs
    const { next_due_ms, next_fire_ms } = upcoming

    if (next_fire_ms !== null && next_fire_ms <= horizonMs) yield* fireAll
    // Set while claiming too: a slot that gets free meanwhile must ring for the next round.
    engine.backlog = next_due_ms !== null && next_due_ms <= horizonMs
    if (engine.backlog) engine.backlog = yield* claimAll
    yield* giveBack
    yield* compare

    const untilFire =
      next_fire_ms === null || next_fire_ms <= horizonMs
        ? gatherMs
        : Math.max(gatherMs, next_fire_ms - horizonMs)
    yield* feedBell.wait(Math.min(pollMs, untilFire))
    // A flood of wakes (manual runs, freed slots) is answered by batches.
    yield* Effect.sleep(minimumPauseMs)
  })
})

const minimumPauseMs = 2
