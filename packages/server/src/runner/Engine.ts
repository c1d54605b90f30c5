import { Effect, Semaphore } from "effect"
import { ByteBudget } from "./intake/ByteBudget.ts"
import { ConnectionsLimits } from "@scheduling/calls/Call"
import { DbClock } from "./DbClock.ts"
import { DueFrom } from "./intake/DueFrom.ts"
import { Intake } from "./intake/Intake.ts"
import { EngineMeters } from "./EngineMeters.ts"
import { Doorbell } from "../platform/Loop.ts"
import { Meters, type NodeMeters } from "../platform/Meters.ts"
import type { LeasedRun, Settlement } from "../queue/Run.ts"
import { RunnerOptions } from "../queue/RunnerOptions.ts"
import type { Settled } from "../queue/ending/Settle.ts"

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
  /** Results that came after the lease was lost and were not written. */
  fenced: number
}

interface Parts {
  readonly options: RunnerOptions
  readonly clock: DbClock
  readonly intake: Intake
  /** For large calls, which need a limit on their bytes besides the one on their number. */
  readonly budget: ByteBudget
  /**
   * Limits how many large calls are read at once, so that connections are left for the statements
   * that all runs wait for.
   */
  readonly loads: Semaphore.Semaphore
  readonly meters: NodeMeters
}

/** What the loops of one node share. */
export class Engine {
  readonly options: RunnerOptions
  readonly clock: DbClock
  readonly intake: Intake
  readonly budget: ByteBudget
  readonly loads: Semaphore.Semaphore
  readonly dueFrom = new DueFrom()
  readonly meters: EngineMeters
  /** Rings when there is room for more runs, or something new is due. */
  readonly feedBell = new Doorbell()
  /** Rings when a run may have become startable. */
  readonly startBell = new Doorbell()

  readonly #counts: RunnerCounts = {
    fired: 0,
    claimed: 0,
    started: 0,
    succeeded: 0,
    failed: 0,
    retried: 0,
    cancelled: 0,
    skipped: 0,
    fenced: 0
  }
  /** Ids begin at 1. */
  #node = 0
  #hasBacklog = false
  #doubtsLeases = false

  constructor({ budget, clock, intake, loads, meters, options }: Parts) {
    this.meters = new EngineMeters(meters)
    this.options = options
    this.clock = clock
    this.intake = intake
    this.budget = budget
    this.loads = loads
  }

  /** This node's id. It changes if the node was declared dead but is still alive. */
  get node(): number {
    return this.#node
  }

  enroll(node: number): void {
    this.#node = node
  }

  get counts(): Readonly<RunnerCounts> {
    return this.#counts
  }

  count(what: keyof RunnerCounts, by = 1): void {
    this.#counts[what] += by
  }

  /** Takes on runs that are leased to this node now. */
  hold(runs: ReadonlyArray<LeasedRun>): void {
    if (runs.length === 0) return
    this.intake.add(runs, this.clock.now())
    this.startBell.ring()
  }

  /**
   * Call it if a statement that leases runs got no answer. The database may then know more than the
   * intake.
   */
  doubtLeases(): void {
    this.#doubtsLeases = true
  }

  /**
   * Returns whether there was a doubt and clears it, because the one who asks compares with the
   * database.
   */
  takeDoubt(): boolean {
    const wasDoubted = this.#doubtsLeases
    this.#doubtsLeases = false
    return wasDoubted
  }

  /** Notes whether the last claim left something behind. */
  noteBacklog(isLeft: boolean): void {
    this.#hasBacklog = isLeft
  }

  /**
   * A slot became free. The feed is woken for the backlog once enough are free to be worth a
   * statement.
   */
  slotFreed(): void {
    this.startBell.ring()
    if (this.#hasBacklog && this.intake.free >= this.intake.turnover / 4) this.feedBell.ring()
  }

  /** The results of runs were written, as far as the runs were still this node's. */
  settled(settlements: ReadonlyArray<Settlement>, { ids, next, released }: Settled): void {
    // This comes first, because the shares of the steps before are forgotten below. The targets of
    // the new steps are not known yet.
    const steps = next.flatMap(({ after, ...run }) => {
      const share = this.intake.shareOf(after)
      return share === undefined ? [] : [{ ...run, share, target: null }]
    })
    const written = new Set(ids)
    for (const { id, status } of settlements) {
      this.intake.forget(id)
      if (written.has(id)) {
        this.count(status ?? "retried")
      } else {
        this.count("fenced")
        // Or an earlier try was written and its answer was lost, together with the next step of a
        // chain.
        this.doubtLeases()
      }
    }
    this.hold(steps)
    if (released || settlements.some(({ status }) => status === null)) this.feedBell.ring()
  }
}

const loadsAtOnce = 2

export const makeEngine: Effect.Effect<Engine> = Effect.gen(function* () {
  const options = yield* RunnerOptions
  const { perOrigin } = yield* ConnectionsLimits
  return new Engine({
    options,
    meters: yield* Meters,
    clock: yield* DbClock.make,
    intake: new Intake({
      slots: options.concurrency,
      perTarget: perOrigin,
      ahead: options.maxHeld
    }),
    budget: new ByteBudget(options.callBytes),
    loads: yield* Semaphore.make(loadsAtOnce)
  })
})
