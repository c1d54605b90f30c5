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
import { type ClaimResult, emptyClaimResult } from "../transitions/claim.ts"
import type { EndSignals } from "../../events/index.ts"
import type { Calls } from "./Calls.ts"
import type { EngineState } from "./EngineState.ts"
import { traceSettled } from "./traceRuns.ts"
import { logFailures } from "./logFailures.ts"

const batch = 1_000

/**
 * The interval between two writes, in which results are gathered. At hundreds of runs per second,
 * one statement per result would cost more than anything else. A result that arrives after a longer
 * pause is written immediately.
 */
const gatherMs = 25

/**
 * The interval between two writes if a chain may continue. It is shorter, because the next step
 * starts when the result of the previous step is written.
 */
const gatherForNextMs = 5

/** How long results wait while runs are due, because starting these runs has priority. */
const yieldMs = 200

/**
 * How long results wait while runs are due, if a step of a chain or a run of a named queue may
 * follow.
 */
const yieldForNextMs = 50

/**
 * The number of failures after which an individual result counts as one that cannot be stored,
 * provided that the database is up.
 */
const maxTries = 3

/**
 * How long a result that could not be stored, even without its response, waits until it is retried.
 */
const unstorableRetryMs = 60_000

/**
 * The maximum number of results that cannot be stored. If there are more, the store itself is the
 * problem, and the loop fails visibly.
 */
const maxUnstorable = 20

export interface Settler {
  /** The number of results that are not written yet. */
  readonly pending: () => number
  /**
   * Forgets all results, because the node has lost its leases and may not write the results any
   * more.
   */
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
 *    result at a time (`writeIndividually`). A result that cannot be stored even without its response
 *    is set aside.
 *
 * While the database is unavailable, results are kept. If the lease is lost in the meantime, the
 * fence drops them.
 */
export const makeSettler = Effect.fnUntraced(function* (
  engine: EngineState,
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
   * Writes results one at a time, after writing a batch failed although the database is up. The
   * cause may be one of the rows, or a full disk. Results that cannot be stored are set aside, so
   * that the others are written.
   */
  const writeIndividually = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
    for (const settlement of settlements) {
      if (!(yield* writeOne(writeOnly, settlement))) {
        if (aside.count < maxUnstorable) aside.add(settlement, elapsedMs(clock))
        // This fails again, so that the loop fails.
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
        // Results must be written even if the slots cannot be passed on. If the database is
        // unavailable, this fails too, and the results are kept.
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
      // The waker may wake the settler for results that were already written.
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
 * Waits until the results should be written. It sleeps in short intervals, because the end of the
 * wait can change: further runs may finish, or all due runs may have started.
 */
const gather = Effect.fnUntraced(function* (
  engine: EngineState,
  clock: Clock.Clock,
  writtenMs: number
) {
  const sinceMs = elapsedMs(clock)
  const leftMs = () => endOfWait(engine, sinceMs, writtenMs) - elapsedMs(clock)
  for (let left = leftMs(); left > 0; left = leftMs()) {
    yield* Effect.sleep(Math.min(gatherMs, left))
  }
})

/** Returns when to write results that have waited since `sinceMs`. */
const endOfWait = (
  { leasedRuns, results }: EngineState,
  sinceMs: number,
  writtenMs: number
): number => {
  const holdsSlot = results.some(({ id }) => leasedRuns.holdsSlot(id))
  const goesOn = holdsSlot || results.some(({ position }) => position !== null)
  if (leasedRuns.hasWaitingRuns) return sinceMs + (goesOn ? yieldForNextMs : yieldMs)
  // A queue slot becomes free only when the result of the run that holds it is written, so this
  // result is written without delay.
  if (holdsSlot) return sinceMs
  return writtenMs + (goesOn ? gatherForNextMs : gatherMs)
}

/**
 * `writeOnly` writes a batch of results. `write` also passes queue slots on to the next runs, if
 * this node may do so.
 */
const makeWrite = Effect.fnUntraced(function* (engine: EngineState, begin: Calls["begin"]) {
  const sql = yield* SqlClient.SqlClient
  const notifyFinished = yield* makeNotifyFinished
  const tracer = yield* Tracing

  /**
   * Updates the state of this node after the commit. It must not fail, or the caller would write
   * the results again.
   */
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

  /**
   * Passes the slots of the runs in `slotsToPassOn` on to the next runs, in the same transaction.
   */
  const writeAndHandOver = Effect.fnUntraced(function* (
    settlements: ReadonlyArray<Settlement>,
    slotsToPassOn: ReadonlySet<string>
  ) {
    const owner = engine.node
    const handingOver = Effect.gen(function* () {
      const settled = yield* finish(sql, settlements)
      const slots = settled.slots.filter(({ id }) => slotsToPassOn.has(id))
      const next = slots.length === 0 ? emptyClaimResult : yield* handOver(sql, owner, slots)
      return { settled, next }
    })
    const { next, settled } = yield* engine.leasing(
      retryAfterDeadlock(sql.withTransaction(handingOver))
    )
    yield* afterCommit(settlements, settled, next)
    // If this fails, the calls of these runs begin a little later, like the calls of other runs.
    yield* begin(engine.takeOver(next), owner).pipe(
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
    Effect.catch(orElse("the result without the response", Effect.succeed(false)))
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
