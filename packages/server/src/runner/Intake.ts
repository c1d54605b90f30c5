import type { LeasedRun } from "./Run.ts"

/**
 * A workspace may have this many times as many calls in flight as are still free. So one workspace
 * alone gets four fifths of the node, two get four ninths each, and however many there are, a
 * newcomer finds room. (Dynamic thresholds, as switches share their buffers.)
 */
const share = 4

interface ReadyRun {
  readonly run: LeasedRun
  readonly sinceMs: number
}

/**
 * The runs that are leased to this node: held until they are due, then ready, one queue a workspace,
 * then in a slot. All of it is bookkeeping in memory; the tables say what is true.
 */
export class Intake {
  readonly #slots: number
  /** Latest first, so that the next one is at the end. */
  #held: Array<LeasedRun> = []
  #heldInOrder = true
  readonly #ready = new Map<string, Array<ReadyRun>>()
  #readyCount = 0
  readonly #inSlots = new Map<string, number>()
  #slotsTaken = 0
  /** From the lease until it is settled. */
  readonly #known = new Set<string>()

  constructor(slots: number) {
    this.#slots = slots
  }

  get held(): number {
    return this.#held.length + this.#readyCount
  }

  get running(): number {
    return this.#slotsTaken
  }

  /** Slots that no run in hand will fill; below zero, runs that are due wait for a slot. */
  get free(): number {
    return this.#slots - this.#slotsTaken - this.#readyCount
  }

  /** How many overdue runs to ask for: half of the free slots, so that whoever comes next finds some. */
  get room(): number {
    return Math.ceil(this.free / 2)
  }

  add(runs: ReadonlyArray<LeasedRun>): void {
    for (const run of this.#learn(runs)) {
      this.#held.push(run)
      this.#heldInOrder = false
    }
  }

  /** Gives slots to runs that are started already, but for those that were known. */
  admit<Run extends LeasedRun>(runs: ReadonlyArray<Run>): ReadonlyArray<Run> {
    const admitted = this.#learn(runs)
    for (const run of admitted) this.#occupy(run.workspace_id, 1)
    return admitted
  }

  /** When the next held run is due. */
  get nextDueMs(): number | undefined {
    this.#sortHeld()
    return this.#held.at(-1)?.due_ms
  }

  /** Up to `limit` runs that are due and have a slot from now on; workspaces take turns. */
  take(nowMs: number, limit: number): ReadonlyArray<LeasedRun> {
    this.#makeReady(nowMs)
    const taken: Array<LeasedRun> = []
    for (let served = true; served && taken.length < limit;) {
      served = false
      // Those who were served go to the end, also for the next time.
      for (const [workspace, queue] of Array.from(this.#ready)) {
        if (taken.length >= limit || !this.#hasRoomFor(workspace)) continue
        const next = queue.shift()
        this.#ready.delete(workspace)
        if (queue.length > 0) this.#ready.set(workspace, queue)
        if (next === undefined) continue
        this.#readyCount--
        this.#occupy(workspace, 1)
        taken.push(next.run)
        served = true
      }
    }
    return taken
  }

  /** The run no longer needs its slot; it is known until `forget`. */
  release(run: { readonly workspace_id: string }): void {
    this.#occupy(run.workspace_id, -1)
  }

  /** Gives up slots of runs whose start is not certain: they are asked about again. */
  putBack(runs: ReadonlyArray<LeasedRun>): void {
    for (const run of runs) {
      this.release(run)
      if (this.#known.has(run.id)) this.#held.push(run)
    }
    this.#heldInOrder = false
  }

  /** Lets go of runs that have slots and turned out to be no longer this node's. */
  giveUp(runs: Iterable<LeasedRun>): void {
    for (const run of runs) {
      this.release(run)
      this.forget(run.id)
    }
  }

  forget(id: string): void {
    this.#known.delete(id)
  }

  /** Removes runs that have found no slot since then: another node may have one. */
  dropWaiting(sinceMs: number): ReadonlyArray<LeasedRun> {
    const dropped: Array<LeasedRun> = []
    for (const [workspace, queue] of this.#ready) {
      // The queue is in the order of getting ready.
      const kept = queue.findIndex((ready) => ready.sinceMs >= sinceMs)
      const removed = queue.splice(0, kept === -1 ? queue.length : kept)
      dropped.push(...removed.map((ready) => ready.run))
      if (queue.length === 0) this.#ready.delete(workspace)
    }
    this.#readyCount -= dropped.length
    for (const run of dropped) this.#known.delete(run.id)
    return dropped
  }

  /** Removes everything that has not started. */
  dropAll(): ReadonlyArray<LeasedRun> {
    const ready = [...this.#ready.values()].flat().map(({ run }) => run)
    const dropped = [...this.#held, ...ready]
    this.#held = []
    this.#ready.clear()
    this.#readyCount = 0
    for (const run of dropped) this.#known.delete(run.id)
    return dropped
  }

  /** After the leases were lost and the calls cut off. */
  clear(): void {
    this.dropAll()
    this.#known.clear()
  }

  /** Workspaces that have their share. */
  saturated(): ReadonlyArray<string> {
    return [...this.#inSlots.keys()].filter((workspace) => !this.#hasRoomFor(workspace))
  }

  #learn<Run extends LeasedRun>(runs: ReadonlyArray<Run>): ReadonlyArray<Run> {
    return runs.filter(({ id }) => {
      const isNew = !this.#known.has(id)
      this.#known.add(id)
      return isNew
    })
  }

  #hasRoomFor(workspace: string): boolean {
    const free = this.#slots - this.#slotsTaken
    return free > 0 && (this.#inSlots.get(workspace) ?? 0) < share * free
  }

  #occupy(workspace: string, change: 1 | -1): void {
    const count = (this.#inSlots.get(workspace) ?? 0) + change
    if (count === 0) this.#inSlots.delete(workspace)
    else this.#inSlots.set(workspace, count)
    this.#slotsTaken += change
  }

  #makeReady(nowMs: number): void {
    this.#sortHeld()
    for (
      let run = this.#held.at(-1);
      run !== undefined && run.due_ms <= nowMs;
      run = this.#held.at(-1)
    ) {
      this.#held.pop()
      const queue = this.#ready.get(run.workspace_id)
      const ready = { run, sinceMs: nowMs }
      if (queue === undefined) this.#ready.set(run.workspace_id, [ready])
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
