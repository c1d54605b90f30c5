import {
  maxHeldPerSlot,
  type WorkerCall,
  type WorkerResult
} from "@scheduling/domain/workers/WorkerProtocol"

/** A result without the time since then, which is known when it is sent. */
export type Ending = Omit<WorkerResult, "ended_ago_ms"> & { readonly endedAtMs: number }

interface HeldRun {
  /** While its call is under way. It refers to all that is known of the call. */
  cutOff: (() => void) | undefined
}

/** A request with more is refused. */
const maxBytes = 512 * 1024
const maxResults = 100

/**
 * The runs that the agent holds, from the claim until the service has acknowledged the result. A
 * slot is free again when its call has ended, so that the agent goes on while results travel. It
 * holds at most two runs per slot, so that results which cannot be handed in take a bounded amount
 * of memory.
 *
 * The map and its values live long, so they refer to nothing of a call that has ended, or the call
 * would not die young (ADR 12).
 */
export class Held {
  readonly #slots: number
  readonly #runs = new Map<WorkerCall["run_id"], HeldRun>()
  /** Oldest first. */
  #endings: Array<Ending> = []

  constructor(slots: number) {
    this.#slots = slots
  }

  get free(): number {
    const left = maxHeldPerSlot * this.#slots - this.size
    return Math.max(0, Math.min(this.#slots - this.running, left))
  }

  get size(): number {
    return this.#runs.size
  }

  get running(): number {
    return this.size - this.unsent
  }

  /** Runs whose results are not acknowledged yet, and those that still run. */
  get ids(): ReadonlyArray<WorkerCall["run_id"]> {
    return [...this.#runs.keys()]
  }

  get unsent(): number {
    return this.#endings.length
  }

  /** False if it is held already. */
  take({ run_id }: Pick<WorkerCall, "run_id">): boolean {
    if (this.#runs.has(run_id)) return false
    this.#runs.set(run_id, { cutOff: undefined })
    return true
  }

  /** Its call is under way. */
  begin(id: WorkerCall["run_id"], cutOff: () => void): void {
    const run = this.#runs.get(id)
    if (run !== undefined) run.cutOff = cutOff
  }

  cutOff(id: WorkerCall["run_id"]): void {
    this.#runs.get(id)?.cutOff?.()
  }

  end(ending: Ending): void {
    const run = this.#runs.get(ending.run_id)
    if (run === undefined) return
    run.cutOff = undefined
    this.#endings.push(ending)
  }

  /** As many results as one request takes, oldest first. */
  next(nowMs: number): ReadonlyArray<WorkerResult> {
    const results: Array<WorkerResult> = []
    let bytes = 0
    for (const { endedAtMs, ...ending } of this.#endings) {
      bytes += 500 + JSON.stringify(ending.response_body).length
      if (results.length === maxResults || (results.length > 0 && bytes > maxBytes)) break
      results.push({ ...ending, ended_ago_ms: Math.max(0, Math.round(nowMs - endedAtMs)) })
    }
    return results
  }

  /** The service knows of them. */
  release(ids: Iterable<WorkerCall["run_id"]>): void {
    const released = new Set(ids)
    for (const id of released) this.#runs.delete(id)
    this.#endings = this.#endings.filter(({ run_id }) => !released.has(run_id))
  }

  /**
   * For when the session is lost: what is held belongs to others. Returns how to cut off the calls
   * that are under way.
   */
  clear(): ReadonlyArray<() => void> {
    const underWay = [...this.#runs.values()].flatMap(({ cutOff }) => cutOff ?? [])
    this.#runs.clear()
    this.#endings = []
    return underWay
  }
}
