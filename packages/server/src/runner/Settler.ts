import { Effect, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { isDatabaseAway } from "../platform/Errors.ts"
import { againAfterCollision } from "../platform/transaction.ts"
import { Doorbell, loop } from "./Loop.ts"
import { Partitions } from "./Partitions.ts"
import type { Settlement } from "./Run.ts"
import { timeOfId } from "./RunId.ts"
import { type Settled, settle } from "./Settle.ts"

const batch = 1_000

/** A statement a run is what costs most at hundreds a second; waiting so long for company is not noticed. */
const gatherMs = 25

/** The next step of a chain starts when the one before is written. */
const gatherForStepMs = 5

/** While runs are due, starting them goes first: writing can wait for so long. */
const yieldMs = 50

/** With the database up, this many failures of one result on its own mean that it cannot be stored. */
const maxTries = 3

export interface Settler {
  readonly offer: (settlement: Settlement) => void
  readonly pending: () => number
  /** Forgets everything: the leases are lost, and with them the right to write. */
  readonly clear: () => void
  readonly flush: Effect.Effect<void>
}

/**
 * Gathers what runs came to and writes it in batches. While the database is away results are kept
 * and tried again; if the lease was lost by then the fence drops them.
 */
export const makeSettler = Effect.fnUntraced(function* (
  isPressed: () => boolean,
  onSettled: (settlements: ReadonlyArray<Settlement>, settled: Settled) => void
): Effect.fn.Return<Settler, never, Scope.Scope | SqlClient.SqlClient | Partitions> {
  const sql = yield* SqlClient.SqlClient
  const partitions = yield* Partitions
  const doorbell = new Doorbell()
  let buffer: Array<Settlement> = []

  const patienceMs = () => {
    if (isPressed()) return yieldMs
    return buffer.some(({ place }) => place !== null) ? gatherForStepMs : gatherMs
  }

  const write = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
    onSettled(settlements, yield* againAfterCollision(settle(sql, settlements)))
  })

  /** The statement failed though the database answers: for one of the rows, or for want of disk. */
  const writeApart = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
    for (const settlement of settlements) {
      yield* write([settlement]).pipe(
        Effect.retry({ times: maxTries - 1 }),
        Effect.catch((error) => {
          const problem = `the result of run ${settlement.id} cannot be stored: ${error.message}`
          return isDatabaseAway(error)
            ? Effect.fail(error)
            : Effect.andThen(Effect.logError(problem), write([withoutAnswer(settlement)]))
        })
      )
      buffer = buffer.filter((kept) => kept !== settlement)
    }
  })

  const writeNext = Effect.gen(function* () {
    const next = buffer.slice(0, batch)
    if (next.length === 0) return
    yield* write(next).pipe(
      Effect.catch(() =>
        // This fails too if the database is away. Then nothing is lost: the buffer is as it was.
        partitions.ensure(next.flatMap(timesOf)).pipe(
          Effect.andThen(write(next)),
          Effect.catch(() => Effect.andThen(sql`SELECT 1`, writeApart(next)))
        )
      )
    )
    const written = new Set(next)
    buffer = buffer.filter((settlement) => !written.has(settlement))
  })

  yield* loop(
    "settling runs",
    Effect.gen(function* () {
      if (buffer.length === 0) yield* doorbell.wait(60_000)
      if (buffer.length < batch) yield* Effect.sleep(patienceMs())
      yield* writeNext
    })
  ).pipe(Effect.forkScoped)

  return {
    offer: (settlement) => {
      buffer.push(settlement)
      doorbell.ring()
    },
    pending: () => buffer.length,
    clear: () => {
      buffer = []
    },
    flush: Effect.whileLoop({
      while: () => buffer.length > 0,
      body: () => Effect.sleep(gatherForStepMs),
      step: () => {}
    })
  }
})

/** Of what is written to the history. Steps that are passed over are due when the one before ended. */
const timesOf = ({ finished_ms, id }: Settlement): ReadonlyArray<number> =>
  finished_ms === null ? [timeOfId(id)] : [timeOfId(id), finished_ms]

const withoutAnswer = (settlement: Settlement): Settlement => ({
  ...settlement,
  response_body: null,
  error: "the answer could not be stored"
})
