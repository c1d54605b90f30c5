import {
  maxHeldPerSlot,
  type WorkerCall,
  type WorkerResult
} from "@scheduling/domain/workers/WorkerProtocol"

/** A result without the time since then, which is known when it is sent. */
export type Ending = Omit<WorkerResult, "ended_ago_ms"> & { readonly endedAtMs: number }

/** A request with more is refused. */
const maxBytes = 512 * 1024
const maxResults = 100

/**
 * The runs that the agent holds, from the claim until the service has acknowledged the result. A
 * slot is free again when its call has ended, so that the agent goes on while results travel. It
 * holds at most two runs per slot, so that results which cannot be handed in take a bounded amount
 * of memory.
 */
export class Held {
  readonly #slots: number
  readonly #calls = new Map<string, WorkerCall>()
  readonly #endings = new Map<string, Ending>()

  constructor(slots: number) {
    this.#slots = slots
  }

  get free(): number {
    const running = this.#calls.size - this.#endings.size
    const left = maxHeldPerSlot * this.#slots - this.#calls.size
    return Math.max(0, Math.min(this.#slots - running, left))
  }

  get size(): number {
    return this.#calls.size
  }

  /** Runs whose results are not acknowledged yet, and those that still run. */
  get ids(): ReadonlyArray<WorkerCall["run_id"]> {
    return [...this.#calls.values()].map(({ run_id }) => run_id)
  }

  get unsent(): number {
    return this.#endings.size
  }

  /** False if it is held already. */
  take(call: WorkerCall): boolean {
    if (this.#calls.has(call.run_id)) return false
    this.#calls.set(call.run_id, call)
    return true
  }

  end(ending: Ending): void {
    if (this.#calls.has(ending.run_id)) this.#endings.set(ending.run_id, ending)
  }

  /** As many results as one request takes, oldest first. */
  next(nowMs: number): ReadonlyArray<WorkerResult> {
    const results: Array<WorkerResult> = []
    let bytes = 0
    for (const { endedAtMs, ...ending } of this.#endings.values()) {
      bytes += 500 + JSON.stringify(ending.response_body).length
      if (results.length === maxResults || (results.length > 0 && bytes > maxBytes)) break
      results.push({ ...ending, ended_ago_ms: Math.max(0, Math.round(nowMs - endedAtMs)) })
    }
    return results
  }

  /** The service knows of them. */
  release(ids: Iterable<string>): void {
    for (const id of ids) {
      this.#calls.delete(id)
      this.#endings.delete(id)
    }
  }

  /** For when the session is lost: what is held belongs to others. */
  clear(): void {
    this.#calls.clear()
    this.#endings.clear()
  }
}
