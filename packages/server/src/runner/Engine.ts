import { Effect, Semaphore } from "effect"
import { ByteBudget } from "./ByteBudget.ts"
import { ConnectionsLimits } from "./Call.ts"
import { DbClock } from "./DbClock.ts"
import { DueFrom } from "./DueFrom.ts"
import { Intake } from "./Intake.ts"
import { Doorbell } from "./Loop.ts"
import { RunnerOptions } from "./RunnerOptions.ts"

/** Since the process started. */
export interface RunnerCounts {
  fired: number
  claimed: number
  started: number
  succeeded: number
  failed: number
  retried: number
  cancelled: number
  skipped: number
  /** Results that came after the lease was lost, and were not written. */
  fenced: number
}

/** What the loops of one node share. */
export interface Engine {
  readonly options: RunnerOptions
  readonly clock: DbClock
  readonly intake: Intake
  /** For calls that are too large to be bounded by their number. */
  readonly budget: ByteBudget
  /** Reading those leaves connections to the statements that all runs wait for. */
  readonly loads: Semaphore.Semaphore
  readonly dueFrom: DueFrom
  /** Rings when there is room for more runs, or something new is due. */
  readonly feedBell: Doorbell
  /** Rings when a run may have become startable. */
  readonly startBell: Doorbell
  readonly counts: RunnerCounts
  /** The last claim left something behind. */
  backlog: boolean
  /** A statement that leases runs went unanswered: the database may know more than the intake. */
  unsure: boolean
}

const loadsAtOnce = 2

export const makeEngine: Effect.Effect<Engine> = Effect.gen(function* () {
  const options = yield* RunnerOptions
  const { perOrigin } = yield* ConnectionsLimits
  return {
    options,
    clock: yield* DbClock.make,
    intake: new Intake({
      slots: options.concurrency,
      perTarget: perOrigin,
      ahead: options.maxHeld
    }),
    dueFrom: new DueFrom(),
    budget: new ByteBudget(options.callBytes),
    loads: yield* Semaphore.make(loadsAtOnce),
    feedBell: new Doorbell(),
    startBell: new Doorbell(),
    counts: {
      fired: 0,
      claimed: 0,
      started: 0,
      succeeded: 0,
      failed: 0,
      retried: 0,
      cancelled: 0,
      skipped: 0,
      fenced: 0
    },
    backlog: false,
    unsure: false
  }
})
