import type { LeasedRun } from "../../queue/Run.ts"
import { CallSlots, type SlotLimits } from "./CallSlots.ts"
import { LastCalls } from "./LastCalls.ts"

/** A share may hold this many times as many runs ahead of their time as there is still room for. */
const threshold = 4

/** How long no runs of a share are claimed after its runs found no slot and were given back. */
const restMs = 2_000

export interface IntakeLimits extends SlotLimits {
  /** Runs held ahead of their time. */
  readonly ahead: number
}

interface ReadyRun {
  readonly run: LeasedRun
  readonly sinceMs: number
}

/** The due runs of one share: a queue per workspace and target. The queues take turns. */
type ReadyShare = Map<string, Array<ReadyRun>>

/**
 * The runs that are leased to this node: held until they are due, then ready, then in a slot. Held
 * runs and due runs are counted separately, so that however many wait for the next minute, runs
 * that are due now find room. All of this is bookkeeping in memory. The tables hold the truth.
 */
export class Intake {
  readonly #limits: IntakeLimits
  /** A claim for fewer runs of one share is not worth it. */
  readonly #leastRoom: number
  readonly #slots: CallSlots
  readonly #lastCalls: LastCalls
  /** The latest come first, so that the next one is at the end. */
  #held: Array<LeasedRun> = []
  #heldInOrder = true
  readonly #heldByShare = new Map<number, number>()
  readonly #ready = new Map<number, ReadyShare>()
  #readyCount = 0
  /** How many of the due runs may find a slot when runs are taken next. */
  #untried = 0
  /** Each run from its lease until it is settled. */
  readonly #known = new Map<string, LeasedRun>()
  readonly #restingUntilMs = new Map<number, number>()

  constructor(limits: IntakeLimits) {
    this.#limits = limits
    this.#leastRoom = Math.min(limits.slots, limits.perTarget) / 8
    this.#slots = new CallSlots(limits)
    this.#lastCalls = new LastCalls(this.#slots)
  }

  /** Runs that are leased and not in a slot. */
  get held(): number {
    return this.#held.length + this.#readyCount
  }

  get running(): number {
    return this.#slots.taken
  }

  get free(): number {
    return this.#slots.free
  }

  /** Whether runs are due and have no slot. */
  get isPressed(): boolean {
    return this.#readyCount > 0
  }

  /** How many overdue runs to ask for: half of the free slots, so that newcomers find some. */
  get room(): number {
    return Math.ceil((this.free - this.#untried) / 2)
  }

  /** Slots that become free again soon. Those of slow calls do not. */
  get turnover(): number {
    return this.#limits.slots - this.#slots.slow
  }

  get roomAhead(): number {
    return this.#limits.ahead - this.#held.length
  }

  mayHold(share: number): boolean {
    return (this.#heldByShare.get(share) ?? 0) < threshold * this.roomAhead
  }

  /** Shares that hold as many runs as they may. */
  holdingEnough(): ReadonlyArray<number> {
    return [...this.#heldByShare.keys()].filter((share) => !this.mayHold(share))
  }

  add(runs: ReadonlyArray<LeasedRun>, nowMs: number): void {
    for (const run of runs) {
      if (this.#known.has(run.id)) continue
      this.#known.set(run.id, run)
      this.#hold(run)
      if (run.due_ms <= nowMs) this.#untried++
    }
  }

  /** How many runs would find slots if shares call what they called last. */
  likelyRoom(nowMs: number): number {
    return this.#lastCalls.room(nowMs)
  }

  /** Gives slots to runs that a claim has started. The others go through the start guard. */
  admit<Run extends LeasedRun>(runs: ReadonlyArray<Run>, nowMs: number): ReadonlyArray<Run> {
    this.#lastCalls.notice(runs, nowMs)
    return runs.filter(({ attempt, due_ms, hasPlace = false, id, share, target, workspace_id }) => {
      if (this.#known.has(id)) return false
      const run = { id, workspace_id, share, target, attempt, due_ms, hasPlace }
      this.#known.set(id, run)
      const hasRoom = this.#slots.hasRoom(share, target, nowMs)
      if (hasRoom) this.#slots.occupy(id, share, target, nowMs)
      else this.#hold(run)
      return hasRoom
    })
  }

  /** When the next held run is due. */
  get nextDueMs(): number | undefined {
    this.#sortHeld()
    return this.#held.at(-1)?.due_ms
  }

  /** Takes up to `limit` runs that are due and gives them slots. Shares take turns. */
  take(nowMs: number, limit: number): ReadonlyArray<LeasedRun> {
    this.#makeReady(nowMs)
    this.#slots.watch(nowMs)
    const taken: Array<LeasedRun> = []
    this.#untried = 0
    for (let served = true; served;) {
      served = false
      // A share that was served goes to the end, also for the next time.
      for (const [share, queues] of Array.from(this.#ready)) {
        if (this.#slots.free <= 0) return taken
        if (taken.length >= limit) {
          this.#untried = this.#readyCount
          return taken
        }
        const run = this.#takeOne(share, queues, nowMs)
        if (run === undefined) continue
        this.#ready.delete(share)
        if (queues.size > 0) this.#ready.set(share, queues)
        taken.push(run)
        served = true
      }
    }
    return taken
  }

  /** The run no longer needs its slot. It is known until `forget`. */
  release(id: string, nowMs: number, answered = false): void {
    this.#slots.vacate(id, nowMs, answered)
    const share = this.#known.get(id)?.share
    if (share !== undefined) this.#restingUntilMs.delete(share)
  }

  /** Takes slots from runs whose start is not certain. They go through the start guard again. */
  putBack(ids: Iterable<string>, nowMs: number): void {
    for (const id of ids) {
      this.#slots.vacate(id, nowMs, false)
      const run = this.#known.get(id)
      if (run !== undefined) this.#hold(run)
    }
  }

  /** Forgets runs that have slots but turned out to be no longer this node's. */
  giveUp(ids: Iterable<string>, nowMs: number): void {
    for (const id of ids) {
      this.#slots.vacate(id, nowMs, false)
      this.#known.delete(id)
    }
  }

  shareOf(id: string): number | undefined {
    return this.#known.get(id)?.share
  }

  /** Whether a named queue waits for its result. */
  hasPlace(id: string): boolean {
    return this.#known.get(id)?.hasPlace === true
  }

  forget(id: string): void {
    this.#known.delete(id)
  }

  /**
   * Removes runs that became ready before `sinceMs` and have no slot: another node may have one.
   */
  dropWaiting(sinceMs: number, nowMs: number): ReadonlyArray<LeasedRun> {
    const dropped: Array<LeasedRun> = []
    for (const [share, queues] of this.#ready) {
      const before = dropped.length
      for (const [name, queue] of queues) {
        // The queue is in the order in which its runs became ready.
        const kept = queue.findIndex((ready) => ready.sinceMs >= sinceMs)
        const removed = queue.splice(0, kept === -1 ? queue.length : kept)
        for (const { run } of removed) dropped.push(run)
        if (queue.length === 0) queues.delete(name)
      }
      if (dropped.length > before) this.#restingUntilMs.set(share, nowMs + restMs)
      if (queues.size === 0) this.#ready.delete(share)
    }
    this.#readyCount -= dropped.length
    for (const run of dropped) this.#known.delete(run.id)
    return dropped
  }

  /** Removes everything that has not started. */
  dropAll(): ReadonlyArray<LeasedRun> {
    const ready = [...this.#ready.values()].flatMap((queues) =>
      [...queues.values()].flat().map(({ run }) => run)
    )
    const dropped = [...this.#held, ...ready]
    this.#held = []
    this.#heldByShare.clear()
    this.#ready.clear()
    this.#readyCount = 0
    for (const run of dropped) this.#known.delete(run.id)
    return dropped
  }

  /** For when the leases are lost and the calls cut off. */
  clear(): void {
    this.dropAll()
    this.#known.clear()
  }

  /**
   * Shares whose further runs would find no slot, or hardly any. Shares with runs that wait for a
   * slot are among them.
   */
  saturated(nowMs: number): ReadonlyArray<number> {
    for (const [share, untilMs] of this.#restingUntilMs) {
      if (untilMs <= nowMs) this.#restingUntilMs.delete(share)
    }
    const saturated = new Set([...this.#ready.keys(), ...this.#restingUntilMs.keys()])
    for (const share of this.#slots.shares()) {
      if (this.#slots.isClosedTo(share, nowMs)) saturated.add(share)
    }
    for (const share of this.#lastCalls.sharesBelow(this.#leastRoom, nowMs)) saturated.add(share)
    return [...saturated]
  }

  isOpenTo(share: number, nowMs: number): boolean {
    return !this.#slots.isClosedTo(share, nowMs)
  }

  #takeOne(share: number, queues: ReadyShare, nowMs: number): LeasedRun | undefined {
    for (const [name, queue] of queues) {
      const next = queue[0]
      if (next === undefined || !this.#slots.hasRoom(share, next.run.target, nowMs)) continue
      queue.shift()
      queues.delete(name)
      if (queue.length > 0) queues.set(name, queue)
      this.#readyCount--
      this.#slots.occupy(next.run.id, share, next.run.target, nowMs)
      return next.run
    }
    return undefined
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
      let queues = this.#ready.get(run.share)
      if (queues === undefined) {
        queues = new Map()
        this.#ready.set(run.share, queues)
      }
      const name = `${run.workspace_id} ${run.target}`
      const ready = { run, sinceMs: nowMs }
      const queue = queues.get(name)
      if (queue === undefined) queues.set(name, [ready])
      else queue.push(ready)
      this.#readyCount++
    }
  }

  #sortHeld(): void {
    if (this.#heldInOrder) return
    this.#held.sort((a, b) => b.due_ms - a.due_ms || (a.id < b.id ? 1 : -1))
    this.#heldInOrder = true
  }
}
