import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { Clock, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { againAfterCollision, isDatabaseAway } from "../../store/index.ts"
import { briefly, elapsedMs, Tracing } from "../../core/index.ts"
import type { Settlement } from "../Run.ts"
import { handOver } from "../transitions/handOver.ts"
import { makeNotifyFinished } from "../afterSettled.ts"
import { finish } from "../transitions/finish.ts"
import type { Settled } from "../Settled.ts"
import { type Claimed, nothingClaimed } from "../transitions/claim.ts"
import type { Endings } from "../../events/index.ts"
import type { Calls } from "./Calls.ts"
import type { Engine } from "./Engine.ts"
import { traceSettled } from "./traceRuns.ts"
import { logFailures } from "./logFailures.ts"

const batch = 1_000

/**
 * The time between one write and the next, in which results are gathered. At hundreds of runs per
 * second, a statement for each would cost more than anything else. A result that comes later is
 * written at once.
 */
const gatherMs = 25

/** Shorter, because the next step of a chain starts when the one before is written. */
const gatherForNextMs = 5

/** While runs are due, starting them goes first, and writing waits this long. */
const yieldMs = 200

/** The same if something follows in a chain or in a named queue. */
const yieldForNextMs = 50

/** If the database is up and one result alone fails this many times, it cannot be stored. */
const maxTries = 3

/** Results that cannot be stored even without their answers are tried again after this long. */
const asideMs = 60_000

/** If more cannot be stored than this, it is because of the store, and the loop shows that it fails. */
const maxAside = 20

export interface Settler {
  /** Results that are not written yet. */
  readonly pending: () => number
  /** Forgets everything, because the leases are lost, and with them the right to write. */
  readonly clear: () => void
  /** Writes the results that there are, or waits until there is one. */
  readonly settleSome: Effect.Effect<void, SqlError.SqlError>
  readonly flush: Effect.Effect<void>
}

/**
 * Writes the results of runs.
 *
 * 1. Results that could not be stored a minute ago are tried again.
 * 2. Results are gathered for a moment, unless none was written just before.
 * 3. One statement writes a batch of them (`transitions/finish.ts`). If runs among them held slots of
 *    named queues, the same transaction gives the slots to the next runs (`transitions/handOver.ts`),
 *    and their calls begin at once (`begin`).
 * 4. A batch that fails is written once more without handing over, and then result by result. What
 *    cannot be stored even without its answer is put aside.
 *
 * While the database is unavailable, results are kept. If a lease is lost by then, the fence drops
 * the result.
 */
export const makeSettler = Effect.fnUntraced(function* (
  engine: Engine,
  begin: Calls["begin"]
): Effect.fn.Return<Settler, never, SqlClient.SqlClient | Endings> {
  const sql = yield* SqlClient.SqlClient
  const notifyFinished = yield* makeNotifyFinished
  const tracer = yield* Tracing
  const clock = yield* Clock.Clock
  const { results } = engine
  let aside: Array<Settlement> = []
  let triedAsideMs = 0
  let writtenMs = Number.NEGATIVE_INFINITY

  /** When what has waited since then is written. */
  const endOfWait = (sinceMs: number): number => {
    const holdsSlot = results.some(({ id }) => engine.intake.holdsSlot(id))
    const goesOn = holdsSlot || results.some(({ place }) => place !== null)
    if (engine.intake.isPressed) return sinceMs + (goesOn ? yieldForNextMs : yieldMs)
    // The place of a run of a named queue stands empty meanwhile.
    if (holdsSlot) return sinceMs
    return writtenMs + (goesOn ? gatherForNextMs : gatherMs)
  }

  /** In short steps, because by then other runs may have ended, or none be due any more. */
  const gather = Effect.gen(function* () {
    const sinceMs = elapsedMs(clock)
    const leftMs = () => endOfWait(sinceMs) - elapsedMs(clock)
    for (let left = leftMs(); left > 0; left = leftMs()) {
      yield* Effect.sleep(Math.min(gatherMs, left))
    }
  })

  /** These are written and committed, so nothing about it may make the caller write them again. */
  const written = (
    settlements: ReadonlyArray<Settlement>,
    settled: Settled,
    next?: Claimed
  ): Effect.Effect<void> => {
    engine.settled(settlements, settled, next)
    engine.meters.batch("settle", settlements.length)
    notifyFinished(settlements, settled)
    if (tracer !== undefined) traceSettled(tracer, settlements, settled.ids, engine.clock.now())
    return logFailures(settlements, settled.ids)
  }

  const writeOnly = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
    yield* written(settlements, yield* againAfterCollision(finish(sql, settlements)))
  })

  /** The slots of these runs go to the next ones of their queues, in the same transaction. */
  const writeAndHandOver = Effect.fnUntraced(function* (
    settlements: ReadonlyArray<Settlement>,
    handing: ReadonlySet<string>
  ) {
    const owner = engine.node
    const askedMs = engine.clock.now()
    const handingOver = Effect.gen(function* () {
      const settled = yield* finish(sql, settlements)
      const slots = settled.slots.filter(({ id }) => handing.has(id))
      const next = slots.length === 0 ? nothingClaimed : yield* handOver(sql, owner, slots)
      return { settled, next }
    })
    const { next, settled } = yield* engine.leasing(
      againAfterCollision(sql.withTransaction(handingOver))
    )
    yield* written(settlements, settled, next)
    // If this fails, the calls are begun a little later, as those of other runs are.
    yield* begin(engine.takeOver(next), owner, askedMs).pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning(`runs that took free slots could not begin at once: ${briefly(cause)}`)
      )
    )
  }, Effect.uninterruptible)

  const write = (settlements: ReadonlyArray<Settlement>) => {
    const handing = engine.handing(settlements)
    return handing.size === 0 ? writeOnly(settlements) : writeAndHandOver(settlements, handing)
  }

  /** False if it cannot be stored, not even without its answer. */
  const writeAlone = (settlement: Settlement) => {
    const orElse =
      <A>(what: string, next: Effect.Effect<A, SqlError.SqlError>) =>
      (error: SqlError.SqlError) => {
        const problem = `${what} of run ${settlement.id} cannot be stored: ${error.message}`
        return isDatabaseAway(error)
          ? Effect.fail(error)
          : Effect.andThen(Effect.logError(problem), next)
      }
    const writeBare = writeOnly([withoutAnswer(settlement)]).pipe(
      Effect.as(true),
      Effect.catch(orElse("the end", Effect.succeed(false)))
    )
    return writeOnly([settlement]).pipe(
      Effect.retry({ times: maxTries - 1 }),
      Effect.as(true),
      Effect.catch(orElse("the result", writeBare))
    )
  }

  const putAside = (settlement: Settlement) => {
    if (aside.length === 0) triedAsideMs = elapsedMs(clock)
    aside.push(settlement)
  }

  /**
   * The statement failed although the database answers: because of one of the rows, or because the
   * disk is full. What cannot be stored is put aside, so that the others go on.
   */
  const writeApart = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
    for (const settlement of settlements) {
      if (!(yield* writeAlone(settlement))) {
        if (aside.length < maxAside) putAside(settlement)
        // Fails once more, and the loop with it.
        else yield* writeOnly([settlement])
      }
      results.remove(new Set([settlement]))
    }
  })

  const writeAside = Effect.gen(function* () {
    triedAsideMs = elapsedMs(clock)
    for (const settlement of aside) {
      if (yield* writeAlone(settlement)) aside = aside.filter((kept) => kept !== settlement)
    }
  })

  const writeNext = Effect.gen(function* () {
    const next = results.first(batch)
    if (next.length === 0) return
    writtenMs = elapsedMs(clock)
    yield* write(next).pipe(
      Effect.catch(() =>
        // All else must go on if handing over is what fails. This fails too if the database is
        // unavailable. Then nothing is lost, because the results are still there.
        writeOnly(next).pipe(Effect.catch(() => Effect.andThen(sql`SELECT 1`, writeApart(next))))
      )
    )
    results.remove(new Set(next))
  })

  return {
    settleSome: Effect.gen(function* () {
      if (aside.length > 0 && elapsedMs(clock) - triedAsideMs >= asideMs) yield* writeAside
      // The bell may still ring for what is written already.
      if (results.count === 0) return yield* results.bell.wait(60_000)
      if (results.count < batch) yield* gather
      yield* writeNext
    }),
    pending: () => results.count + aside.length,
    clear: () => {
      results.clear()
      aside = []
    },
    flush: Effect.whileLoop({
      while: () => results.count > 0,
      body: () => Effect.sleep(gatherForNextMs),
      step: () => {}
    })
  }
})

const withoutAnswer = (settlement: Settlement): Settlement => ({
  ...settlement,
  response_body: null,
  error: executionError("internal", "the answer could not be stored")
})
