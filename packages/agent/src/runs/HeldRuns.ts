import {
  maxClaimed,
  maxHeldPerSlot,
  maxResults,
  type WorkerCall,
  type WorkerResult
} from "@scheduling/domain/workers/WorkerProtocol"

/** A run that has finished. How long ago that was is computed when the result is sent. */
export type FinishedRun = Omit<WorkerResult, "ended_ago_ms"> & { readonly finishedAtMs: number }

type Outcome = Omit<FinishedRun, "run_id" | "lease">

interface HeldRun {
  /** Set while its call is in progress. It refers to everything about the call. */
  cutOff: (() => void) | undefined
}

interface WaitingRun {
  readonly call: WorkerCall
  readonly sinceMs: number
}

/** The largest request that the service accepts. */
const maxBytes = 512 * 1024

/** Runs that are claimed ahead should wait no longer than this for a slot. */
const aheadMs = 50
const maxAheadPerSlot = 2

/**
 * The runs that the agent holds, from the claim until the service has acknowledged the result. A
 * slot is free again as soon as its call has finished, so that the agent goes on while results are
 * on their way. While more runs are due than it claims, the agent claims as many runs ahead as have
 * finished lately, so that it also goes on while the next claim is on its way. The number of held
 * runs per slot is bounded, so that results which cannot be submitted take a bounded amount of
 * memory.
 *
 * The map and its values live long, so they refer to nothing of a finished call, which the garbage
 * collector can then free early (ADR 12).
 */
export class HeldRuns {
  readonly #slots: number
  readonly #runs = new Map<WorkerCall["run_id"], HeldRun>()
  /** Runs whose calls have not begun, in the order in which they begin. */
  #waiting: Array<WaitingRun> = []
  /** Finished runs that are not in a request, the oldest first. */
  #finished: Array<FinishedRun> = []
  /** The number of finished runs whose results the service has not acknowledged. */
  #unacknowledged = 0
  #claimedAtMs = 0
  #finishedSinceClaim = 0
  /** Whether the last claim gave as many runs as it asked for. */
  #hasBacklog = false

  constructor(slots: number) {
    this.#slots = slots
  }

  /** The number of calls that can begin now. */
  get free(): number {
    return this.#room(0)
  }

  /** The number of runs to claim. Those beyond the free slots wait here. */
  wanted(nowMs: number): number {
    return Math.min(this.#room(this.#ahead(nowMs)), maxClaimed)
  }

  get size(): number {
    return this.#runs.size
  }

  get running(): number {
    return this.size - this.#waiting.length - this.#unacknowledged
  }

  /**
   * All held runs: those that wait, those that run, and those whose results are not acknowledged.
   */
  get ids(): ReadonlyArray<WorkerCall["run_id"]> {
    return [...this.#runs.keys()]
  }

  get unsent(): number {
    return this.#unacknowledged
  }

  get hasResults(): boolean {
    return this.#finished.length > 0
  }

  /** Whether there are as many results as one request takes. */
  get hasFullBatch(): boolean {
    return this.#finished.length >= maxResults
  }

  noteClaim(nowMs: number): void {
    this.#claimedAtMs = nowMs
    this.#finishedSinceClaim = 0
  }

  /**
   * Takes the runs that a claim for `asked` runs was given, except runs that are held already and
   * runs beyond `asked`. Returns how many it took.
   */
  take(calls: ReadonlyArray<WorkerCall>, asked: number, nowMs: number): number {
    this.#hasBacklog = calls.length >= asked
    const before = this.size
    for (const call of calls.slice(0, asked)) {
      if (this.#runs.has(call.run_id)) continue
      this.#runs.set(call.run_id, { cutOff: undefined })
      this.#waiting.push({ call, sinceMs: nowMs })
    }
    return this.size - before
  }

  /** Removes the next waiting run if there is a free slot for it. Its call must begin at once. */
  next(): WorkerCall | undefined {
    return this.running < this.#slots ? this.#waiting.shift()?.call : undefined
  }

  /** Records that the call of a run is in progress. */
  begin(id: WorkerCall["run_id"], cutOff: () => void): void {
    const run = this.#runs.get(id)
    if (run !== undefined) run.cutOff = cutOff
  }

  cutOff(id: WorkerCall["run_id"]): void {
    this.#runs.get(id)?.cutOff?.()
  }

  /** Records the result of a call. */
  finish(finished: FinishedRun): void {
    const run = this.#runs.get(finished.run_id)
    if (run === undefined) return
    run.cutOff = undefined
    this.#finished.push(finished)
    this.#unacknowledged++
    this.#finishedSinceClaim++
  }

  /** Finishes a run whose call has not begun. Returns false if there is no such run. */
  dismiss(id: WorkerCall["run_id"], outcome: Outcome): boolean {
    const at = this.#waiting.findIndex(({ call }) => call.run_id === id)
    const [dismissed] = at === -1 ? [] : this.#waiting.splice(at, 1)
    if (dismissed === undefined) return false
    this.#finished.push({ ...outcome, run_id: id, lease: dismissed.call.lease })
    this.#unacknowledged++
    return true
  }

  /**
   * Returns the runs that have waited for a slot since `sinceMs`, so that another worker may have
   * them. The service may give them to this agent again before it has answered, so they are no
   * longer held. The result says whether there were any.
   */
  returnWaiting(sinceMs: number, outcome: Outcome): boolean {
    const late = this.#waiting.filter((run) => run.sinceMs <= sinceMs)
    if (late.length === 0) return false
    this.#waiting = this.#waiting.filter((run) => run.sinceMs > sinceMs)
    for (const { call } of late) {
      this.#runs.delete(call.run_id)
      this.#finished.push({ ...outcome, run_id: call.run_id, lease: call.lease })
    }
    this.#hasBacklog = false
    return true
  }

  /** Removes as many results as one request takes, the oldest first. */
  takeResults(): ReadonlyArray<FinishedRun> {
    let bytes = 0
    let count = 0
    for (const { response_body } of this.#finished) {
      bytes += 500 + JSON.stringify(response_body).length
      if (count === maxResults || (count > 0 && bytes > maxBytes)) break
      count++
    }
    return this.#finished.splice(0, count)
  }

  /** Puts results back that could not be submitted, so that they go first the next time. */
  putBack(results: ReadonlyArray<FinishedRun>): void {
    this.#finished.unshift(...results)
  }

  /** Lets go of runs whose results the service has acknowledged. */
  release(results: ReadonlyArray<FinishedRun>): void {
    for (const { outcome, run_id } of results) {
      if (outcome !== "returned" && this.#runs.delete(run_id)) this.#unacknowledged--
    }
  }

  /**
   * Lets go of all runs, which belong to other workers once the session is lost. Returns functions
   * that cut off the calls in progress.
   */
  clear(): ReadonlyArray<() => void> {
    const inProgress = [...this.#runs.values()].flatMap(({ cutOff }) => cutOff ?? [])
    this.#runs.clear()
    this.#waiting = []
    this.#finished = []
    this.#unacknowledged = 0
    return inProgress
  }

  /** The number of runs that may wait for a slot: as many as finish in `aheadMs`. */
  #ahead(nowMs: number): number {
    if (!this.#hasBacklog) return 0
    const share = Math.min(1, aheadMs / Math.max(1, nowMs - this.#claimedAtMs))
    return Math.min(maxAheadPerSlot * this.#slots, Math.floor(share * this.#finishedSinceClaim))
  }

  /** The number of runs that can still be claimed if `ahead` runs may wait for a slot. */
  #room(ahead: number): number {
    const open = this.#slots + ahead - (this.size - this.#unacknowledged)
    return Math.max(0, Math.min(open, maxHeldPerSlot * this.#slots - this.size))
  }
}

export const resultOf = ({ finishedAtMs, ...run }: FinishedRun, nowMs: number): WorkerResult => ({
  ...run,
  ended_ago_ms: Math.max(0, Math.round(nowMs - finishedAtMs))
})
