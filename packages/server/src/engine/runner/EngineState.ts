import { Effect, Semaphore } from "effect"
import { ByteBudget } from "../leased-runs/ByteBudget.ts"
import { CallConnectionLimits } from "@scheduling/calls/OutgoingCalls"
import { DueSearchStart } from "../leased-runs/DueSearchStart.ts"
import { LeasedRuns } from "../leased-runs/LeasedRuns.ts"
import { EngineMeters } from "./EngineMeters.ts"
import { Meters, type NodeMeters, Waker } from "../../core/index.ts"
import { QueueChecks } from "./QueueChecks.ts"
import { UnwrittenResults } from "./UnwrittenResults.ts"
import type { LeasedRun, Settlement, StartedRun } from "../Run.ts"
import { RunnerOptions } from "../RunnerOptions.ts"
import type { RunnerCounts } from "./RunnerStats.ts"
import type { SettleResult } from "../SettleResult.ts"
import { type ClaimResult, emptyClaimResult } from "../transitions/claim.ts"
import { DatabaseClock, type DatabaseClockEstimate } from "../../store/index.ts"

interface Parts {
  readonly options: RunnerOptions
  readonly clock: DatabaseClockEstimate
  readonly leasedRuns: LeasedRuns
  /**
   * The memory for large calls, which are limited by their total size as well as by their number.
   */
  readonly budget: ByteBudget
  /**
   * Limits the number of large calls that are read at the same time, so that connections remain for
   * the statements that all runs wait for.
   */
  readonly loads: Semaphore.Semaphore
  readonly meters: NodeMeters
}

/** The state that the loops of one node share. */
export class EngineState {
  readonly options: RunnerOptions
  readonly clock: DatabaseClockEstimate
  readonly leasedRuns: LeasedRuns
  readonly budget: ByteBudget
  readonly loads: Semaphore.Semaphore
  readonly dueFrom = new DueSearchStart()
  /** The named queues whose free slots are to be checked. */
  readonly queues = new QueueChecks()
  readonly meters: EngineMeters
  readonly results = new UnwrittenResults()
  /** Wakes the claimer when there is room for more runs, or new work is due. */
  readonly claimWaker = new Waker()
  /** Wakes the start loop when a run may be ready to start. */
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
  /** The id of this node. 0 means that it has no id yet, because ids begin at 1. */
  #node = 0
  /**
   * When the lease ends, on `DatabaseClockEstimate.elapsedMs`. The embedded store has one node, which needs no
   * lease.
   */
  #leasedUntilMs = Number.POSITIVE_INFINITY
  #hasBacklog = false
  #doubtsLeases = false
  #isStopping = false

  constructor({ budget, clock, leasedRuns, loads, meters, options }: Parts) {
    this.meters = new EngineMeters(meters)
    this.options = options
    this.clock = clock
    this.leasedRuns = leasedRuns
    this.budget = budget
    this.loads = loads
  }

  /** This node's id. It changes if the node was declared dead but is still alive. */
  get node(): number {
    return this.#node
  }

  enroll(node: number, leasedUntilMs: number): void {
    this.#node = node
    this.#leasedUntilMs = leasedUntilMs
  }

  renewLease(untilMs: number): void {
    this.#leasedUntilMs = untilMs
  }

  /** Makes the lease end earlier, because the node has lost its advisory lock. */
  endLeaseIn(ms: number): void {
    this.#leasedUntilMs = Math.min(this.#leasedUntilMs, this.clock.elapsedMs + ms)
  }

  /** Returns false if other nodes may have taken this node's runs. */
  get holdsLease(): boolean {
    return this.clock.elapsedMs < this.#leasedUntilMs
  }

  get counts(): Readonly<RunnerCounts> {
    return this.#counts
  }

  count(what: keyof RunnerCounts, by = 1): void {
    this.#counts[what] += by
  }

  /** Adds runs that are now leased to this node. */
  hold(runs: ReadonlyArray<LeasedRun>): void {
    if (runs.length === 0) return
    this.leasedRuns.add(runs, this.clock.now())
    this.startWaker.wake()
  }

  /**
   * Records that the response to a statement that leases runs was lost. The database may have
   * leased runs to this node that it does not know.
   */
  doubtLeases(): void {
    this.#doubtsLeases = true
  }

  /**
   * Runs a statement that leases runs. If its response is lost, runs may be leased to this node
   * without its knowledge.
   */
  leasing<A, E>(statement: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.uninterruptible(
      Effect.tapError(statement, () => Effect.sync(() => this.doubtLeases()))
    )
  }

  /**
   * Returns whether the leases are in doubt, and clears the doubt, because the caller then compares
   * the leases with the database.
   */
  takeDoubt(): boolean {
    const wasDoubted = this.#doubtsLeases
    this.#doubtsLeases = false
    return wasDoubted
  }

  /**
   * The number of runs of named queues that may be leased without waiting for their share's turn. 0
   * while other runs wait for their turn, or while the database clock is in doubt.
   */
  get roomForQueues(): number {
    const isBusy = this.#isStopping || this.#hasBacklog || this.leasedRuns.hasWaitingRuns
    return isBusy || this.clock.doubt !== undefined ? 0 : Math.max(0, this.leasedRuns.room)
  }

  /**
   * Records that this node is stopping: it no longer passes the slots of finished runs on to runs
   * of its own.
   */
  stop(): void {
    this.#isStopping = true
  }

  /** Records whether the last claim left due runs behind. */
  noteBacklog(isLeft: boolean): void {
    this.#hasBacklog = isLeft
  }

  /**
   * Records that a slot has become free. With a backlog, the claimer is woken only when enough slots
   * are free to be worth a statement.
   */
  slotFreed(): void {
    this.startWaker.wake()
    if (this.#hasBacklog && this.leasedRuns.free >= this.leasedRuns.turnover / 4)
      this.claimWaker.wake()
  }

  /**
   * Returns the runs whose queue slots may go to the next runs of their queues on this node. Empty
   * while other runs wait for a call slot. Runs of shares that have used up their slots are
   * excluded.
   */
  slotsToPassOn(settlements: ReadonlyArray<Settlement>): ReadonlySet<string> {
    const placed = settlements.filter(({ id }) => this.leasedRuns.holdsSlot(id))
    if (placed.length === 0 || placed.length > this.roomForQueues) return nobody
    const now = this.clock.now()
    const waiting = new Set(this.budget.waiting)
    const mayGoOn = (share: number | undefined) =>
      share !== undefined && this.leasedRuns.isOpenTo(share, now) && !waiting.has(share)
    return new Set(placed.map(({ id }) => id).filter((id) => mayGoOn(this.leasedRuns.shareOf(id))))
  }

  /** Adds runs that took over queue slots. Returns the started runs that have call slots. */
  takeOver({ leased, started }: ClaimResult): ReadonlyArray<StartedRun> {
    const inPlace = <Run>(run: Run) => ({ ...run, holdsSlot: true })
    this.count("claimed", leased.length + started.length)
    this.hold(leased.map(inPlace))
    const admitted = this.leasedRuns.admit(started.map(inPlace), this.clock.now())
    if (admitted.length < started.length) this.startWaker.wake()
    return admitted
  }

  /**
   * Updates the state of this node after results were written. Runs that are not in `ids` were no
   * longer leased to this node.
   */
  settled(
    settlements: ReadonlyArray<Settlement>,
    { ids, next, queues, released, slots }: SettleResult,
    { leased, started }: ClaimResult = emptyClaimResult
  ): void {
    // This comes first, because `forget` below removes the shares of the previous steps. The
    // targets of the new steps are not known yet.
    const steps = next.flatMap(({ after, ...run }) => {
      const share = this.leasedRuns.shareOf(after)
      return share === undefined ? [] : [{ ...run, share, target: null }]
    })
    const written = new Set(ids)
    let again = false
    // If a run was about to await its completion and nothing was written, its completion arrived
    // before the response. Only a chain may then have a next step that this node does not know.
    for (const { completes_by_ms, id, position, status } of settlements) {
      again = this.leasedRuns.forget(id) || again
      if (written.has(id)) {
        if (completes_by_ms === null) this.count(status ?? "retried")
      } else if (completes_by_ms === null || position !== null) {
        this.count("fenced")
        // Otherwise, an earlier attempt to write may have succeeded although its response, with the
        // next step of a chain, was lost.
        this.doubtLeases()
      }
    }
    this.hold(steps)
    if (again) this.startWaker.wake()
    if (leased.length + started.length < slots.length) this.queues.checkAt(queues, this.clock.now())
    if (released || settlements.some(willRetry)) this.claimWaker.wake()
  }
}

const nobody: ReadonlySet<string> = new Set()

const willRetry = ({ completes_by_ms, status }: Settlement) =>
  status === null && completes_by_ms === null

const loadsAtOnce = 2

export const makeEngineState: Effect.Effect<EngineState> = Effect.gen(function* () {
  const options = yield* RunnerOptions
  const { perOrigin } = yield* CallConnectionLimits
  return new EngineState({
    options,
    meters: yield* Meters,
    clock: yield* DatabaseClock,
    leasedRuns: new LeasedRuns({
      slots: options.concurrency,
      perTarget: perOrigin,
      ahead: options.maxHeld
    }),
    budget: new ByteBudget(options.callBytes),
    loads: yield* Semaphore.make(loadsAtOnce)
  })
})
