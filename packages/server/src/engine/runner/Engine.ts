import { Effect, Semaphore } from "effect"
import { ByteBudget } from "../intake/ByteBudget.ts"
import { ConnectionsLimits } from "@scheduling/calls/Call"
import { DueFrom } from "../intake/DueFrom.ts"
import { Intake } from "../intake/Intake.ts"
import { EngineMeters } from "./EngineMeters.ts"
import { Meters, type NodeMeters, Waker } from "../../core/index.ts"
import { QueueChecks } from "./QueueChecks.ts"
import { UnwrittenResults } from "./UnwrittenResults.ts"
import type { LeasedRun, Settlement, StartedRun } from "../Run.ts"
import { RunnerOptions } from "../RunnerOptions.ts"
import type { RunnerCounts } from "./RunnerStats.ts"
import type { Settled } from "../Settled.ts"
import { type Claimed, nothingClaimed } from "../transitions/claim.ts"
import { DatabaseClock, type DbClock } from "../../store/index.ts"

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
  /** The named queues to check. */
  readonly queues = new QueueChecks()
  readonly meters: EngineMeters
  readonly results = new UnwrittenResults()
  /** Wakes the feed when there is room for more runs, or something new is due. */
  readonly feedWaker = new Waker()
  /** Wakes the start loop when a run may have become startable. */
  readonly startWaker = new Waker()

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
  #isStopping = false

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
    this.startWaker.wake()
  }

  /**
   * Call it if a statement that leases runs got no answer. The database may then know more than the
   * intake.
   */
  doubtLeases(): void {
    this.#doubtsLeases = true
  }

  /** A statement whose answer is lost may have leased runs that this node does not know of. */
  leasing<A, E>(statement: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.uninterruptible(
      Effect.tapError(statement, () => Effect.sync(() => this.doubtLeases()))
    )
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

  /**
   * How many runs of named queues may be leased without their lane's turn. None while others wait
   * for theirs, and none while the clock of the database is doubted.
   */
  get roomForQueues(): number {
    const isBusy = this.#isStopping || this.#hasBacklog || this.intake.isPressed
    return isBusy || this.clock.doubt !== undefined ? 0 : Math.max(0, this.intake.room)
  }

  /** The results that are still to be written give their slots to nobody here. */
  stop(): void {
    this.#isStopping = true
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
    this.startWaker.wake()
    if (this.#hasBacklog && this.intake.free >= this.intake.turnover / 4) this.feedWaker.wake()
  }

  /**
   * Those of the runs whose slots may go to the next ones of their queues here. None while others
   * wait for a slot, and none of a share that has its slots taken.
   */
  handing(settlements: ReadonlyArray<Settlement>): ReadonlySet<string> {
    const placed = settlements.filter(({ id }) => this.intake.holdsSlot(id))
    if (placed.length === 0 || placed.length > this.roomForQueues) return nobody
    const now = this.clock.now()
    const waiting = new Set(this.budget.waiting)
    const mayGoOn = (share: number | undefined) =>
      share !== undefined && this.intake.isOpenTo(share, now) && !waiting.has(share)
    return new Set(placed.map(({ id }) => id).filter((id) => mayGoOn(this.intake.shareOf(id))))
  }

  /** Takes on runs that took the queue slots of others. Returns those that have call slots. */
  takeOver({ leased, started }: Claimed): ReadonlyArray<StartedRun> {
    const inPlace = <Run>(run: Run) => ({ ...run, holdsSlot: true })
    this.count("claimed", leased.length + started.length)
    this.hold(leased.map(inPlace))
    const admitted = this.intake.admit(started.map(inPlace), this.clock.now())
    if (admitted.length < started.length) this.startWaker.wake()
    return admitted
  }

  /** The results of runs were written, as far as the runs were still this node's. */
  settled(
    settlements: ReadonlyArray<Settlement>,
    { ids, next, queues, released, slots }: Settled,
    { leased, started }: Claimed = nothingClaimed
  ): void {
    // This comes first, because the shares of the steps before are forgotten below. The targets of
    // the new steps are not known yet.
    const steps = next.flatMap(({ after, ...run }) => {
      const share = this.intake.shareOf(after)
      return share === undefined ? [] : [{ ...run, share, target: null }]
    })
    const written = new Set(ids)
    let again = false
    // A run that was to await its completion and was not written had its completion already, before
    // the answer.
    // Only a chain may then have a next step that this node does not know of.
    for (const { completes_by_ms, id, position, status } of settlements) {
      again = this.intake.forget(id) || again
      if (written.has(id)) {
        if (completes_by_ms === null) this.count(status ?? "retried")
      } else if (completes_by_ms === null || position !== null) {
        this.count("fenced")
        // Or an earlier try was written and its answer was lost, together with the next step of a
        // chain.
        this.doubtLeases()
      }
    }
    this.hold(steps)
    if (again) this.startWaker.wake()
    if (leased.length + started.length < slots.length) this.queues.checkAt(queues, this.clock.now())
    if (released || settlements.some(isTriedAgain)) this.feedWaker.wake()
  }
}

const nobody: ReadonlySet<string> = new Set()

const isTriedAgain = ({ completes_by_ms, status }: Settlement) =>
  status === null && completes_by_ms === null

const loadsAtOnce = 2

export const makeEngine: Effect.Effect<Engine> = Effect.gen(function* () {
  const options = yield* RunnerOptions
  const { perOrigin } = yield* ConnectionsLimits
  return new Engine({
    options,
    meters: yield* Meters,
    clock: yield* DatabaseClock,
    intake: new Intake({
      slots: options.concurrency,
      perTarget: perOrigin,
      ahead: options.maxHeld
    }),
    budget: new ByteBudget(options.callBytes),
    loads: yield* Semaphore.make(loadsAtOnce)
  })
})
