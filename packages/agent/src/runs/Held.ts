import {
  maxClaimed,
  maxHeldPerSlot,
  maxResults,
  type WorkerCall,
  type WorkerResult
} from "@scheduling/domain/workers/WorkerProtocol"

/** A result without the time since then, which is known when it is sent. */
export type Ending = Omit<WorkerResult, "ended_ago_ms"> & { readonly endedAtMs: number }

type HowItEnded = Omit<Ending, "run_id" | "lease">

interface HeldRun {
  /** While its call is under way. It refers to all that is known of the call. */
  cutOff: (() => void) | undefined
}

interface WaitingRun {
  readonly call: WorkerCall
  readonly sinceMs: number
}

/** A request with more is refused. */
const maxBytes = 512 * 1024

/** Runs that are taken ahead should wait no longer than this for a slot. */
const aheadMs = 50
const maxAheadPerSlot = 2

/**
 * The runs that the agent holds, from the claim until the service has acknowledged the result. A
 * slot is free again when its call has ended, so that the agent goes on while results travel. While
 * more runs are due than it asks for, it takes some ahead, so that it also goes on while the next
 * claim travels: as many as have ended lately. It holds a bounded number of runs per slot, so that
 * results which cannot be handed in take a bounded amount of memory.
 *
 * The map and its values live long, so they refer to nothing of a call that has ended, or the call
 * would not die young (ADR 12).
 */
export class Held {
  readonly #slots: number
  readonly #runs = new Map<WorkerCall["run_id"], HeldRun>()
  /** Runs whose calls have not begun. The first to begin comes first. */
  #waiting: Array<WaitingRun> = []
  /** Results that no request has. Oldest first. */
  #endings: Array<Ending> = []
  /** Runs whose results the service has not acknowledged. */
  #ended = 0
  #askedAtMs = 0
  #endedSinceAsked = 0
  /** Whether the last claim gave as many runs as were asked for. */
  #hasBacklog = false

  constructor(slots: number) {
    this.#slots = slots
  }

  /** Slots for calls that can begin now. */
  get free(): number {
    return this.#room(0)
  }

  /** How many runs to ask for. If they are more than the free slots, the others are to wait here. */
  wanted(nowMs: number): number {
    return Math.min(this.#room(this.#ahead(nowMs)), maxClaimed)
  }

  get size(): number {
    return this.#runs.size
  }

  get running(): number {
    return this.size - this.#waiting.length - this.#ended
  }

  /** Runs whose results are not acknowledged yet, and those that still run or wait. */
  get ids(): ReadonlyArray<WorkerCall["run_id"]> {
    return [...this.#runs.keys()]
  }

  get unsent(): number {
    return this.#ended
  }

  get hasEndings(): boolean {
    return this.#endings.length > 0
  }

  /** Whether a request that is sent now would be full. */
  get hasManyEndings(): boolean {
    return this.#endings.length >= maxResults
  }

  ask(nowMs: number): void {
    this.#askedAtMs = nowMs
    this.#endedSinceAsked = 0
  }

  /**
   * Takes what was given when so many were asked for. Those that are held already are left out, and
   * those beyond what was asked for. Returns how many it took.
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

  /** Takes the next run for which there is a slot. Its call is to begin at once. */
  next(): WorkerCall | undefined {
    return this.running < this.#slots ? this.#waiting.shift()?.call : undefined
  }

  /** Its call is under way. */
  begin(id: WorkerCall["run_id"], cutOff: () => void): void {
    const run = this.#runs.get(id)
    if (run !== undefined) run.cutOff = cutOff
  }

  cutOff(id: WorkerCall["run_id"]): void {
    this.#runs.get(id)?.cutOff?.()
  }

  /** The call is over. */
  end(ending: Ending): void {
    const run = this.#runs.get(ending.run_id)
    if (run === undefined) return
    run.cutOff = undefined
    this.#endings.push(ending)
    this.#ended++
    this.#endedSinceAsked++
  }

  /** Ends a run whose call has not begun. False if there is no such run. */
  dismiss(id: WorkerCall["run_id"], end: HowItEnded): boolean {
    const at = this.#waiting.findIndex(({ call }) => call.run_id === id)
    const [dismissed] = at === -1 ? [] : this.#waiting.splice(at, 1)
    if (dismissed === undefined) return false
    this.#endings.push({ ...end, run_id: id, lease: dismissed.call.lease })
    this.#ended++
    return true
  }

  /**
   * Ends the runs that have waited for a slot since then, so that others may have them. The service
   * may give them to this agent again before it has answered, so they are not held any more. Returns
   * whether there were any.
   */
  giveBack(sinceMs: number, end: HowItEnded): boolean {
    const late = this.#waiting.filter((run) => run.sinceMs <= sinceMs)
    if (late.length === 0) return false
    this.#waiting = this.#waiting.filter((run) => run.sinceMs > sinceMs)
    for (const { call } of late) {
      this.#runs.delete(call.run_id)
      this.#endings.push({ ...end, run_id: call.run_id, lease: call.lease })
    }
    this.#hasBacklog = false
    return true
  }

  /** As many results as one request takes, oldest first. No other request gets them. */
  takeEndings(): ReadonlyArray<Ending> {
    let bytes = 0
    let count = 0
    for (const { response_body } of this.#endings) {
      bytes += 500 + JSON.stringify(response_body).length
      if (count === maxResults || (count > 0 && bytes > maxBytes)) break
      count++
    }
    return this.#endings.splice(0, count)
  }

  /** They could not be handed in, and go first the next time. */
  keep(endings: ReadonlyArray<Ending>): void {
    this.#endings.unshift(...endings)
  }

  /** The service knows of them. */
  release(endings: ReadonlyArray<Ending>): void {
    for (const { outcome, run_id } of endings) {
      if (outcome !== "returned" && this.#runs.delete(run_id)) this.#ended--
    }
  }

  /**
   * For when the session is lost: what is held belongs to others. Returns how to cut off the calls
   * that are under way.
   */
  clear(): ReadonlyArray<() => void> {
    const underWay = [...this.#runs.values()].flatMap(({ cutOff }) => cutOff ?? [])
    this.#runs.clear()
    this.#waiting = []
    this.#endings = []
    this.#ended = 0
    return underWay
  }

  /** How many runs may wait for a slot: as many as end in `aheadMs`. */
  #ahead(nowMs: number): number {
    if (!this.#hasBacklog) return 0
    const share = Math.min(1, aheadMs / Math.max(1, nowMs - this.#askedAtMs))
    return Math.min(maxAheadPerSlot * this.#slots, Math.floor(share * this.#endedSinceAsked))
  }

  /** For how many more runs there is room, if so many may wait for a slot. */
  #room(ahead: number): number {
    const places = this.#slots + ahead - (this.size - this.#ended)
    return Math.max(0, Math.min(places, maxHeldPerSlot * this.#slots - this.size))
  }
}

export const resultOf = ({ endedAtMs, ...ending }: Ending, nowMs: number): WorkerResult => ({
  ...ending,
  ended_ago_ms: Math.max(0, Math.round(nowMs - endedAtMs))
})
