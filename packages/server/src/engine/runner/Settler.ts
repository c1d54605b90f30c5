import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { Clock, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { isTemporaryFailure, retryAfterDeadlock } from "../../store/index.ts"
import { elapsedMs, shortMessage, Tracing } from "../../core/index.ts"
import type { Settlement } from "../Run.ts"
import { handOver } from "../transitions/handOver.ts"
import { makeNotifyFinished } from "../afterSettled.ts"
import { finish } from "../transitions/finish.ts"
import type { SettleResult } from "../SettleResult.ts"
import { type ClaimResult, nothingClaimed } from "../transitions/claim.ts"
import type { EndSignals } from "../../events/index.ts"
import type { Calls } from "./Calls.ts"
import type { Engine } from "./Engine.ts"
import { traceSettled } from "./traceRuns.ts"
import { logFailures } from "./logFailures.ts"

const batch = 1_000

/**
 * The interval between two writes, in which results are gathered. At hundreds of runs per second, a
 * statement per result would cost more than anything else. A result that arrives after a longer
 * pause is written immediately.
 */
const gatherMs = 25

/**
 * Shorter, because the next step of a chain starts when the result of the previous step is written.
 */
const gatherForNextMs = 5

/** While runs are due, starting them has priority, and results wait this long. */
const yieldMs = 200

/** The same if a step of a chain or a run of a named queue follows. */
const yieldForNextMs = 50

/**
 * If the database is up and writing a single result fails this many times, the result cannot be
 * stored.
 */
const maxTries = 3

/** Results that cannot be stored even without their response are retried after this interval. */
const unstorableRetryMs = 60_000

/**
 * If more results than this cannot be stored, the store is the problem, and the loop fails visibly.
 */
const maxUnstorable = 20

export interface Settler {
  /** The number of results that are not written yet. */
  readonly pending: () => number
  /** Forgets all results, because the leases are lost, and with them the right to write. */
  readonly clear: () => void
  /** Writes pending results, or waits for the first one. */
  readonly settleSome: Effect.Effect<void, SqlError.SqlError>
  readonly flush: Effect.Effect<void>
}

type Write = (settlements: ReadonlyArray<Settlement>) => Effect.Effect<void, SqlError.SqlError>

/**
 * Writes the results of runs. The loop runs `settleSome`:
 *
 * 1. `retryUnstorable`: results that could not be stored a minute ago are retried.
 * 2. `gather`: results are gathered for a moment, unless the last write was long enough ago.
 * 3. `writeNext`: one statement writes a batch (`transitions/finish.ts`). If runs in the batch held
 *    slots of named queues, `writeAndHandOver` gives the slots to the next runs in the same
 *    transaction (`transitions/handOver.ts`), and their calls begin immediately (`begin`).
 * 4. A batch that fails is written again without passing slots on (`writeOnly`), and then one
 *    result at a time (`writeIndividually`). A result that cannot be stored even without its response is
 *    set aside.
 *
 * While the database is unavailable, results are kept. If the lease is lost by then, the fence
 * drops the result.
 */
export const makeSettler = Effect.fnUntraced(function* (
  engine: Engine,
  begin: Calls["begin"]
): Effect.fn.Return<Settler, never, SqlClient.SqlClient | EndSignals> {
  const sql = yield* SqlClient.SqlClient
  const clock = yield* Clock.Clock
  const { write, writeOnly } = yield* makeWrite(engine, begin)
  const { results } = engine
  const aside = new UnstorableResults()
  let writtenMs = Number.NEGATIVE_INFINITY

  const retryUnstorable = Effect.gen(function* () {
    for (const settlement of aside.takeTurn(elapsedMs(clock))) {
      if (yield* writeOne(writeOnly, settlement)) aside.remove(settlement)
    }
  })

  /**
   * Writes results one at a time, after a batch failed although the database is up: because of one
   * of the rows, or because the disk is full. Results that cannot be stored are set aside, so that
   * the others are written.
   */
  const writeIndividually = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
    for (const settlement of settlements) {
      if (!(yield* writeOne(writeOnly, settlement))) {
        if (aside.count < maxUnstorable) aside.add(settlement, elapsedMs(clock))
        // Fails again, and makes the loop fail.
        else yield* writeOnly([settlement])
      }
      results.remove(new Set([settlement]))
    }
  })

  const writeNext = Effect.gen(function* () {
    const next = results.first(batch)
    if (next.length === 0) return
    writtenMs = elapsedMs(clock)
    yield* write(next).pipe(
      Effect.catch(() =>
        // Results must be written even if passing slots on fails. If the database is unavailable,
        // this fails too, and the results are kept.
        writeOnly(next).pipe(
          Effect.catch(() => Effect.andThen(sql`SELECT 1`, writeIndividually(next)))
        )
      )
    )
    results.remove(new Set(next))
  })

  return {
    settleSome: Effect.gen(function* () {
      if (aside.isDue(elapsedMs(clock))) yield* retryUnstorable
      // The waker may still wake for results that were already written.
      if (results.count === 0) return yield* results.waker.wait(60_000)
      if (results.count < batch) yield* gather(engine, clock, writtenMs)
      yield* writeNext
    }),
    pending: () => results.count + aside.count,
    clear: () => {
      results.clear()
      aside.clear()
    },
    flush: Effect.whileLoop({
      while: () => results.count > 0,
      body: () => Effect.sleep(gatherForNextMs),
      step: () => {}
    })
  }
})

/**
 * Waits until the results are to be written. Sleeps in short intervals, because more runs may
 * finish meanwhile, and runs with priority may all have started.
 */
const gather = Effect.fnUntraced(function* (engine: Engine, clock: Clock.Clock, writtenMs: number) {
  const sinceMs = elapsedMs(clock)
  const leftMs = () => endOfWait(engine, sinceMs, writtenMs) - elapsedMs(clock)
  for (let left = leftMs(); left > 0; left = leftMs()) {
    yield* Effect.sleep(Math.min(gatherMs, left))
  }
})

/** Returns when to write results that have waited since `sinceMs`. */
const endOfWait = ({ intake, results }: Engine, sinceMs: number, writtenMs: number): number => {
  const holdsSlot = results.some(({ id }) => intake.holdsSlot(id))
  const goesOn = holdsSlot || results.some(({ position }) => position !== null)
  if (intake.hasWaitingRuns) return sinceMs + (goesOn ? yieldForNextMs : yieldMs)
  // The slot of a run of a named queue is not free until the run's result is written.
  if (holdsSlot) return sinceMs
  return writtenMs + (goesOn ? gatherForNextMs : gatherMs)
}

/**
 * `writeOnly` writes a batch of results. `write` also passes queue slots on to the next runs, where
 * this node may.
 */
const makeWrite = Effect.fnUntraced(function* (engine: Engine, begin: Calls["begin"]) {
  const sql = yield* SqlClient.SqlClient
  const notifyFinished = yield* makeNotifyFinished
  const tracer = yield* Tracing

  /** The results are committed, so this must not fail, or the caller would write them again. */
  const afterCommit = (
    settlements: ReadonlyArray<Settlement>,
    settled: SettleResult,
    next?: ClaimResult
  ): Effect.Effect<void> => {
    engine.settled(settlements, settled, next)
    engine.meters.batch("settle", settlements.length)
    notifyFinished(settlements, settled)
    if (tracer !== undefined) traceSettled(tracer, settlements, settled.ids, engine.clock.now())
    return logFailures(settlements, settled.ids)
  }

  const writeOnly = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
    yield* afterCommit(settlements, yield* retryAfterDeadlock(finish(sql, settlements)))
  })

  /** Passes the slots of the runs in `slotsToPassOn` on to the next runs, in the same transaction. */
  const writeAndHandOver = Effect.fnUntraced(function* (
    settlements: ReadonlyArray<Settlement>,
    slotsToPassOn: ReadonlySet<string>
  ) {
    const owner = engine.node
    const askedMs = engine.clock.now()
    const handingOver = Effect.gen(function* () {
      const settled = yield* finish(sql, settlements)
      const slots = settled.slots.filter(({ id }) => slotsToPassOn.has(id))
      const next = slots.length === 0 ? nothingClaimed : yield* handOver(sql, owner, slots)
      return { settled, next }
    })
    const { next, settled } = yield* engine.leasing(
      retryAfterDeadlock(sql.withTransaction(handingOver))
    )
    yield* afterCommit(settlements, settled, next)
    // If this fails, the calls begin a little later, like those of other runs.
    yield* begin(engine.takeOver(next), owner, askedMs).pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning(
          `runs that took free slots could not begin immediately: ${shortMessage(cause)}`
        )
      )
    )
  }, Effect.uninterruptible)

  const write: Write = (settlements) => {
    const slotsToPassOn = engine.slotsToPassOn(settlements)
    return slotsToPassOn.size === 0
      ? writeOnly(settlements)
      : writeAndHandOver(settlements, slotsToPassOn)
  }
  return { write, writeOnly }
})

/** Returns false if the result cannot be stored, even without its response. */
const writeOne = (writeOnly: Write, settlement: Settlement) => {
  const orElse =
    <A>(what: string, next: Effect.Effect<A, SqlError.SqlError>) =>
    (error: SqlError.SqlError) => {
      const problem = `${what} of run ${settlement.id} cannot be stored: ${error.message}`
      return isTemporaryFailure(error)
        ? Effect.fail(error)
        : Effect.andThen(Effect.logError(problem), next)
    }
  const writeWithoutResponse = writeOnly([withoutResponse(settlement)]).pipe(
    Effect.as(true),
    Effect.catch(orElse("the end", Effect.succeed(false)))
  )
  return writeOnly([settlement]).pipe(
    Effect.retry({ times: maxTries - 1 }),
    Effect.as(true),
    Effect.catch(orElse("the result", writeWithoutResponse))
  )
}

const withoutResponse = (settlement: Settlement): Settlement => ({
  ...settlement,
  response_body: null,
  exchange: null,
  error: executionError("internal", "the response could not be stored")
})

/** Results that cannot be stored. They are kept in memory and retried after a while. */
class UnstorableResults {
  #kept: ReadonlyArray<Settlement> = []
  #triedMs = 0

  get count(): number {
    return this.#kept.length
  }

  isDue(nowMs: number): boolean {
    return this.#kept.length > 0 && nowMs - this.#triedMs >= unstorableRetryMs
  }

  /** Returns all results for another try. They stay here until they are removed. */
  takeTurn(nowMs: number): ReadonlyArray<Settlement> {
    this.#triedMs = nowMs
    return this.#kept
  }

  add(settlement: Settlement, nowMs: number): void {
    if (this.#kept.length === 0) this.#triedMs = nowMs
    this.#kept = [...this.#kept, settlement]
  }

  remove(written: Settlement): void {
    this.#kept = this.#kept.filter((one) => one !== written)
  }

  clear(): void {
    this.#kept = []
  }
}
