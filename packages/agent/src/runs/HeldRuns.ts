import {
  maxRunsPerClaim,
  maxHeldPerSlot,
  maxResultsPerRequest,
  type WorkerCall,
  type WorkerResult
} from "@scheduling/domain/workers/WorkerProtocol"

/** The result of a run. `ended_ago_ms` is computed when the result is sent. */
export type FinishedRun = Omit<WorkerResult, "ended_ago_ms"> & { readonly finishedAtMs: number }

type Outcome = Omit<FinishedRun, "run_id" | "lease">

interface HeldRun {
  /**
   * Aborts the call. Set only while the call is in progress, because this function keeps the whole
   * call in memory.
   */
  cutOff: (() => void) | undefined
}

interface WaitingRun {
  readonly call: WorkerCall
  readonly sinceMs: number
}

const maxBytes = 512 * 1024

/** The longest time that a prefetched run should have to wait for a slot. */
const maxPrefetchWaitMs = 50
const maxPrefetchedPerSlot = 2

/**
 * The runs that the agent holds: from the claim of a run until the service has acknowledged its
 * result. A slot becomes free as soon as its call has finished, so that the next call starts while
 * results are submitted. If more runs are due than the agent claims, the agent prefetches runs, as
 * many as it has recently finished, so that calls start while the next claim is in progress. The
 * number of held runs per slot is limited, so that results that cannot be submitted do not fill the
 * memory.
 *
 * The map and its values are long-lived. They must not reference finished calls, so that the
 * garbage collector can free the calls early (ADR 12).
 */
export class HeldRuns {
  readonly #slots: number
  readonly #runs = new Map<WorkerCall["run_id"], HeldRun>()
  /** Runs whose calls have not started, in the order in which they will start. */
  #waiting: Array<WaitingRun> = []
  /** Results that are not yet in a request, oldest first. */
  #finished: Array<FinishedRun> = []
  /** The number of results not yet acknowledged by the service. */
  #unacknowledged = 0
  #claimedAtMs = 0
  #finishedSinceClaim = 0
  /** True if the last claim returned as many runs as requested. */
  #hasBacklog = false

  constructor(slots: number) {
    this.#slots = slots
  }

  get free(): number {
    return this.#claimable(0)
  }

  /** Returns the number of runs to claim. Runs beyond the free slots wait in the agent. */
  wanted(nowMs: number): number {
    return Math.min(this.#claimable(this.#prefetchCount(nowMs)), maxRunsPerClaim)
  }

  get size(): number {
    return this.#runs.size
  }

  get running(): number {
    return this.size - this.#waiting.length - this.#unacknowledged
  }

  /** The ids of all held runs: waiting, running, or with an unacknowledged result. */
  get ids(): ReadonlyArray<WorkerCall["run_id"]> {
    return [...this.#runs.keys()]
  }

  get unsent(): number {
    return this.#unacknowledged
  }

  get hasResults(): boolean {
    return this.#finished.length > 0
  }

  get hasFullBatch(): boolean {
    return this.#finished.length >= maxResultsPerRequest
  }

  noteClaim(nowMs: number): void {
    this.#claimedAtMs = nowMs
    this.#finishedSinceClaim = 0
  }

  /**
   * Takes the runs returned by a claim for `asked` runs, except runs that are already held and runs
   * beyond `asked`. Returns the number of runs taken.
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

  /** Removes the next waiting run if a slot is free. The caller must start its call immediately. */
  next(): WorkerCall | undefined {
    return this.running < this.#slots ? this.#waiting.shift()?.call : undefined
  }

  begin(id: WorkerCall["run_id"], cutOff: () => void): void {
    const run = this.#runs.get(id)
    if (run !== undefined) run.cutOff = cutOff
  }

  cutOff(id: WorkerCall["run_id"]): void {
    this.#runs.get(id)?.cutOff?.()
  }

  finish(finished: FinishedRun): void {
    const run = this.#runs.get(finished.run_id)
    if (run === undefined) return
    run.cutOff = undefined
    this.#finished.push(finished)
    this.#unacknowledged++
    this.#finishedSinceClaim++
  }

  /** Finishes a run whose call has not started. Returns false if no such run waits. */
  dismiss(id: WorkerCall["run_id"], outcome: Outcome): boolean {
    const at = this.#waiting.findIndex(({ call }) => call.run_id === id)
    const [dismissed] = at === -1 ? [] : this.#waiting.splice(at, 1)
    if (dismissed === undefined) return false
    this.#finished.push({ ...outcome, run_id: id, lease: dismissed.call.lease })
    this.#unacknowledged++
    return true
  }

  /**
   * Returns to the service the runs that have been waiting for a slot since `sinceMs` or longer, so
   * that another worker can claim them. These runs are no longer held, because the service may give
   * them to this agent again before it acknowledges the return. Returns true if any run was
   * returned.
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

  /** Removes as many results as fit into one request, oldest first. */
  takeResults(): ReadonlyArray<FinishedRun> {
    let bytes = 0
    let count = 0
    for (const { exchange, response_body } of this.#finished) {
      bytes += 500 + JSON.stringify([response_body, exchange]).length
      if (count === maxResultsPerRequest || (count > 0 && bytes > maxBytes)) break
      count++
    }
    return this.#finished.splice(0, count)
  }

  /**
   * Leaves out returns of runs that the agent holds again. The service has handled such a return,
   * although its response was lost, and would take the run from the agent if it was sent again.
   */
  withoutReclaimed(results: ReadonlyArray<FinishedRun>): ReadonlyArray<FinishedRun> {
    return results.filter(
      ({ outcome, run_id }) => outcome !== "returned" || !this.#runs.has(run_id)
    )
  }

  /** Puts back results that could not be submitted. They come first in the next request. */
  putBack(results: ReadonlyArray<FinishedRun>): void {
    this.#finished.unshift(...results)
  }

  release(results: ReadonlyArray<FinishedRun>): void {
    for (const { outcome, run_id } of results) {
      if (outcome !== "returned" && this.#runs.delete(run_id)) this.#unacknowledged--
    }
  }

  /**
   * Removes all runs, because they belong to other workers once the session is lost. Returns the
   * functions that abort the calls in progress.
   */
  clear(): ReadonlyArray<() => void> {
    const inProgress = [...this.#runs.values()].flatMap(({ cutOff }) => cutOff ?? [])
    this.#runs.clear()
    this.#waiting = []
    this.#finished = []
    this.#unacknowledged = 0
    return inProgress
  }

  /**
   * Returns how many runs can wait for a slot: as many as the agent expects to finish within
   * `maxPrefetchWaitMs`.
   */
  #prefetchCount(nowMs: number): number {
    if (!this.#hasBacklog) return 0
    const fraction = Math.min(1, maxPrefetchWaitMs / Math.max(1, nowMs - this.#claimedAtMs))
    return Math.min(
      maxPrefetchedPerSlot * this.#slots,
      Math.floor(fraction * this.#finishedSinceClaim)
    )
  }

  /** Returns how many more runs can be claimed if `prefetched` runs can wait for a slot. */
  #claimable(prefetched: number): number {
    const open = this.#slots + prefetched - (this.size - this.#unacknowledged)
    return Math.max(0, Math.min(open, maxHeldPerSlot * this.#slots - this.size))
  }
}

export const toWorkerResult = (
  { finishedAtMs, ...run }: FinishedRun,
  nowMs: number
): WorkerResult => ({
  ...run,
  ended_ago_ms: Math.max(0, Math.round(nowMs - finishedAtMs))
})
