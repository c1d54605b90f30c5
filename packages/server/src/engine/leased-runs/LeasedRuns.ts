import type { LeasedRun } from "../Run.ts"
import { CallSlots, type SlotLimits } from "./CallSlots.ts"
import { LastTargets } from "./LastTargets.ts"
import { ReadyRuns } from "./ReadyRuns.ts"

/** A share may hold this many times as many future runs as there is still room for. */
const threshold = 4

/**
 * How long a share's runs are not claimed after some of them found no slot and were handed back.
 */
const restMs = 2_000

export interface LeasedRunsLimits extends SlotLimits {
  /** Maximum number of runs held before they are due. */
  readonly ahead: number
}

/**
 * The runs that are leased to this node: held until they are due, then ready, then in a slot. Held
 * and due runs are counted separately, so that due runs find room regardless of how many wait for
 * the next minute. All of this is in memory. The tables have the authoritative state.
 */
export class LeasedRuns {
  readonly #limits: LeasedRunsLimits
  /**
   * The minimum room of a share. If a share has room for fewer runs, a statement that claims them
   * is not worthwhile.
   */
  readonly #leastRoom: number
  readonly #slots: CallSlots
  readonly #lastCalls: LastTargets
  /**
   * The runs that are not due yet. The run that is due first is at the end, from which runs are
   * taken.
   */
  #held: Array<LeasedRun> = []
  #heldInOrder = true
  readonly #heldByShare = new Map<number, number>()
  readonly #ready = new ReadyRuns()
  /** The number of due runs that may find a slot the next time runs are taken. */
  #untried = 0
  /** All runs of this node by id, from their lease until their result is written. */
  readonly #known = new Map<string, LeasedRun>()
  /** Retries that were leased before this node learned that the previous result was written. */
  readonly #early = new Map<string, LeasedRun>()
  readonly #restingUntilMs = new Map<number, number>()

  constructor(limits: LeasedRunsLimits) {
    this.#limits = limits
    this.#leastRoom = Math.min(limits.slots, limits.perTarget) / 8
    this.#slots = new CallSlots(limits)
    this.#lastCalls = new LastTargets(this.#slots)
  }

  /** The number of runs that are leased and not in a slot. */
  get held(): number {
    return this.#held.length + this.#ready.count + this.#early.size
  }

  get running(): number {
    return this.#slots.taken
  }

  get free(): number {
    return this.#slots.free
  }

  /** Whether there are due runs without a slot. */
  get hasWaitingRuns(): boolean {
    return this.#ready.count > 0
  }

  /**
   * The number of overdue runs to claim. It is half of the free slots, so that newcomers find a
   * free slot.
   */
  get room(): number {
    return Math.ceil((this.free - this.#untried) / 2)
  }

  /**
   * The number of slots that are free or will soon be free: all slots except those of slow calls.
   */
  get turnover(): number {
    return this.#limits.slots - this.#slots.slow
  }

  get roomAhead(): number {
    return this.#limits.ahead - this.#held.length
  }

  mayHold(share: number): boolean {
    return (this.#heldByShare.get(share) ?? 0) < threshold * this.roomAhead
  }

  /** Returns the shares that already hold their maximum number of future runs. */
  holdingEnough(): ReadonlyArray<number> {
    return [...this.#heldByShare.keys()].filter((share) => !this.mayHold(share))
  }

  add(runs: ReadonlyArray<LeasedRun>, nowMs: number): void {
    for (const run of runs) {
      if (!this.#takeOn(run)) continue
      this.#hold(run)
      if (run.due_ms <= nowMs) this.#untried++
    }
  }

  /**
   * Estimates how many runs would get slots if the next runs of shares have the same targets as
   * their last runs.
   */
  likelyRoom(nowMs: number): number {
    return this.#lastCalls.room(nowMs)
  }

  /**
   * Gives slots to runs that a claim has started, and returns the runs that have one. Runs that
   * find no slot go through the start guard later.
   */
  admit<Run extends LeasedRun>(runs: ReadonlyArray<Run>, nowMs: number): ReadonlyArray<Run> {
    this.#lastCalls.notice(runs, nowMs)
    return runs.filter(
      ({ attempt, due_ms, holdsSlot = false, id, share, target, workspace_id }) => {
        const run = { id, workspace_id, share, target, attempt, due_ms, holdsSlot }
        if (!this.#takeOn(run)) return false
        const hasRoom = this.#slots.hasRoom(share, target, nowMs)
        if (hasRoom) this.#slots.occupy(id, share, target, nowMs)
        else this.#hold(run)
        return hasRoom
      }
    )
  }

  /** When the next held run is due. */
  get nextDueMs(): number | undefined {
    this.#sortHeld()
    return this.#held.at(-1)?.due_ms
  }

  /** Takes up to `limit` due runs and gives a slot to each. Shares take turns. */
  take(nowMs: number, limit: number): ReadonlyArray<LeasedRun> {
    this.#makeReady(nowMs)
    this.#slots.watch(nowMs)
    const taken: Array<LeasedRun> = []
    this.#untried = 0
    for (let served = true; served;) {
      served = false
      for (const share of this.#ready.shares()) {
        if (this.#slots.free <= 0) return taken
        if (taken.length >= limit) {
          this.#untried = this.#ready.count
          return taken
        }
        const run = this.#ready.takeOne(share, (target) =>
          this.#slots.hasRoom(share, target, nowMs)
        )
        if (run === undefined) continue
        this.#slots.occupy(run.id, share, run.target, nowMs)
        taken.push(run)
        served = true
      }
    }
    return taken
  }

  /** Frees the slot of a run. The run remains known until `forget` is called. */
  release(id: string, nowMs: number, answered = false): void {
    this.#slots.vacate(id, nowMs, answered)
    const share = this.#known.get(id)?.share
    if (share !== undefined) this.#restingUntilMs.delete(share)
  }

  /**
   * Takes the slots back from runs that may not have started. These runs must pass the start guard
   * again.
   */
  putBack(ids: Iterable<string>, nowMs: number): void {
    for (const id of ids) {
      this.#slots.vacate(id, nowMs, false)
      const run = this.#known.get(id)
      if (run !== undefined) this.#hold(run)
    }
  }

  /** Forgets runs that have slots but are no longer leased to this node. */
  giveUp(ids: Iterable<string>, nowMs: number): void {
    for (const id of ids) {
      this.#slots.vacate(id, nowMs, false)
      this.forget(id)
    }
  }

  shareOf(id: string): number | undefined {
    return this.#known.get(id)?.share
  }

  /** Whether the target of the run that holds a slot usually responds quickly. */
  answersQuickly(id: string): boolean {
    return this.#slots.isQuick(id)
  }

  /** Whether the run holds a slot in a named queue. */
  holdsSlot(id: string): boolean {
    return this.#known.get(id)?.holdsSlot === true
  }

  /** Forgets the run. Returns true if its next attempt is already leased to this node. */
  forget(id: string): boolean {
    this.#known.delete(id)
    const run = this.#early.get(id)
    if (run === undefined) return false
    this.#early.delete(id)
    this.#known.set(id, run)
    this.#hold(run)
    return true
  }

  /**
   * Removes runs that became ready before `sinceMs` and have no slot, because another node may have
   * a slot for them.
   */
  dropWaiting(sinceMs: number, nowMs: number): ReadonlyArray<LeasedRun> {
    const dropped = this.#ready.takeOlder(sinceMs)
    for (const run of dropped) {
      this.#known.delete(run.id)
      this.#early.delete(run.id)
      this.#restingUntilMs.set(run.share, nowMs + restMs)
    }
    return dropped
  }

  /** Removes all runs that have not started. */
  dropAll(): ReadonlyArray<LeasedRun> {
    const dropped = [...this.#held, ...this.#ready.takeOlder(Infinity)]
    for (const run of dropped) this.#known.delete(run.id)
    dropped.push(...this.#early.values())
    this.#held = []
    this.#heldByShare.clear()
    this.#early.clear()
    return dropped
  }

  /** Forgets all runs. Call it when the leases are lost and the calls are aborted. */
  clear(): void {
    this.dropAll()
    this.#known.clear()
  }

  /**
   * Returns the shares whose further runs would find no slot, or hardly any. These include all
   * shares with runs that already wait for a slot.
   */
  saturated(nowMs: number): ReadonlyArray<number> {
    for (const [share, untilMs] of this.#restingUntilMs) {
      if (untilMs <= nowMs) this.#restingUntilMs.delete(share)
    }
    const saturated = new Set([...this.#ready.shares(), ...this.#restingUntilMs.keys()])
    for (const share of this.#slots.shares()) {
      if (this.#slots.isClosedTo(share, nowMs)) saturated.add(share)
    }
    for (const share of this.#lastCalls.sharesBelow(this.#leastRoom, nowMs)) saturated.add(share)
    return [...saturated]
  }

  /**
   * Ends all pauses. After a step of the clock, a pause of a few seconds could last as long as the
   * step.
   */
  forgetPauses(): void {
    this.#restingUntilMs.clear()
    this.#lastCalls.clear()
  }

  isOpenTo(share: number, nowMs: number): boolean {
    return !this.#slots.isClosedTo(share, nowMs)
  }

  /** Returns whether the run may start: neither the run nor an earlier attempt of it is known. */
  #takeOn(run: LeasedRun): boolean {
    const known = this.#known.get(run.id)
    if (known === undefined) this.#known.set(run.id, run)
    else if (known.attempt < run.attempt) this.#early.set(run.id, run)
    return known === undefined
  }

  #hold(run: LeasedRun): void {
    this.#held.push(run)
    this.#heldInOrder = false
    this.#heldByShare.set(run.share, (this.#heldByShare.get(run.share) ?? 0) + 1)
  }

  #makeReady(nowMs: number): void {
    this.#sortHeld()
    for (let run = this.#held.at(-1); run && run.due_ms <= nowMs; run = this.#held.at(-1)) {
      this.#held.pop()
      const heldByShare = (this.#heldByShare.get(run.share) ?? 1) - 1
      if (heldByShare === 0) this.#heldByShare.delete(run.share)
      else this.#heldByShare.set(run.share, heldByShare)
      this.#ready.add(run, nowMs)
    }
  }

  #sortHeld(): void {
    if (this.#heldInOrder) return
    this.#held.sort((a, b) => b.due_ms - a.due_ms || (a.id < b.id ? 1 : -1))
    this.#heldInOrder = true
  }
}
