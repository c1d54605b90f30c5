import type { RunState } from "../../../src/engine/RunState.ts"

/**
 * An in-memory reference model of runs: which node holds each run, the run's state and its history.
 * Where the engine is free to choose a run or an id, the test tells the model what the engine
 * chose.
 */
export interface ModelTask {
  readonly id: string
  readonly kind: "cron" | "chain" | "delayed"
  readonly overlap: "allow" | "skip" | "queue"
  readonly version: string | null
  readonly queue: string | null
  /** True if no more runs can be added to the task. */
  readonly isDeleted: boolean
}

export interface ModelRun {
  readonly id: string
  readonly task: string
  readonly state: RunState
  readonly attempt: number
  readonly lost: number
  readonly holder: number | null
  readonly queue: string | null
  /** The queue that the run holds a slot in. */
  readonly slot: string | null
  readonly stopping: boolean
  /** True if the schedule fired the run. Only scheduled runs wait for the previous run. */
  readonly fired: boolean
  /** Null if the run is not a step of a chain. */
  readonly step: null | {
    readonly chainRun: string
    readonly index: number
    readonly afterFailure: boolean
    /** True if the chain run has started, so that its steps are known. */
    readonly isKnown: boolean
  }
}

export interface ModelRunEnd {
  readonly status: "succeeded" | "failed" | "cancelled" | "skipped"
  /** True if the last attempt has started. */
  readonly started: boolean
  /** True if the last attempt's result is unknown. */
  readonly lost?: boolean
}

export interface ModelExecution {
  readonly id: string
  readonly status: ModelRunEnd["status"]
  readonly attempts: number
  /** The numbers of the attempts that are recorded separately from the execution. */
  readonly earlier: ReadonlyArray<number>
}

/** Returns the id of the second step of a chain run, which the engine chooses. */
export type NextStepId = (chainRun: string) => string

const hasBegun = ({ state }: ModelRun) => state === "running" || state === "awaiting"

export class RunModel {
  readonly tasks = new Map<string, ModelTask>()
  readonly runs = new Map<string, ModelRun>()
  readonly history = new Map<string, ModelExecution>()
  /**
   * A copy of each run after each change, like the ticket that the run's holder has. The holder of
   * an outdated ticket must not write the run's result.
   */
  readonly tickets: Array<ModelRun> = []
  readonly queues: ReadonlyMap<string, number>
  /** The nodes that are alive. Dead nodes receive no runs. */
  readonly alive: Set<number>

  constructor(queues: ReadonlyMap<string, number>, nodes: ReadonlyArray<number>) {
    this.queues = queues
    this.alive = new Set(nodes)
  }

  in(state: RunState, queue?: string): ReadonlyArray<ModelRun> {
    const isMeant = (run: ModelRun) =>
      run.state === state && (queue === undefined || run.queue === queue)
    return [...this.runs.values()].filter(isMeant)
  }

  of(task: string): ReadonlyArray<ModelRun> {
    return [...this.runs.values()].filter((run) => run.task === task)
  }

  freeSlots(queue: string): number {
    const taken = [...this.runs.values()].filter(({ slot }) => slot === queue).length
    return (this.queues.get(queue) ?? 0) - taken
  }

  /** Returns the run if the ticket's holder is still allowed to write the run's result. */
  heldBy(ticket: ModelRun): ModelRun | undefined {
    const run = this.runs.get(ticket.id)
    const isHeld =
      run?.attempt === ticket.attempt &&
      run.holder === ticket.holder &&
      (run.state === "awaiting") === (ticket.state === "awaiting")
    return isHeld ? run : undefined
  }

  set(run: ModelRun) {
    this.runs.set(run.id, run)
    this.tickets.push(run)
  }

  add(id: string, task: ModelTask, fields: Partial<ModelRun> = {}) {
    const chain = { chainRun: id, index: 0, afterFailure: false, isKnown: false }
    this.set({
      id,
      task: task.id,
      state: task.queue === null ? "ready" : "parked",
      attempt: 1,
      lost: 0,
      holder: null,
      queue: task.queue,
      slot: null,
      stopping: false,
      fired: false,
      step: task.kind === "chain" ? chain : null,
      ...fields
    })
  }

  fire(id: string, task: ModelTask, node: number) {
    const waits = (run: ModelRun) => run.fired && run.state === "parked"
    if (task.queue !== null && task.overlap === "skip" && this.of(task.id).some(waits)) {
      this.history.set(id, { id, status: "skipped", attempts: 0, earlier: [] })
    } else if (task.queue === null && this.alive.has(node)) {
      this.add(id, task, { fired: true, state: "leased", holder: node })
    } else {
      this.add(id, task, { fired: true })
    }
  }

  /** Leases runs to a node, which starts the calls that need no further check. */
  take(runs: ReadonlyArray<ModelRun>, node: number) {
    for (const run of runs) {
      const begins = !run.stopping && run.step === null && !this.mustCheckOverlap(run)
      this.set({ ...run, state: begins ? "running" : "leased", holder: node })
    }
  }

  /** Assigns slots to runs, and leases as many of the runs to the node as it has capacity for. */
  admit(runs: ReadonlyArray<ModelRun>, leased: (id: string) => boolean, node: number) {
    for (const run of runs) {
      const lease = leased(run.id)
        ? ({ state: "leased", holder: node } as const)
        : ({ state: "ready" } as const)
      this.set({ ...run, slot: run.queue, ...lease })
    }
  }

  /** Returns the reason why the node must not make the call. Undefined if there is none. */
  start(ticket: ModelRun): "cancelled" | "skipped" | undefined {
    const run = this.heldBy(ticket)
    if (run === undefined) return undefined
    if (run.stopping) return "cancelled"
    const others = this.of(run.task).filter(({ id }) => id !== run.id)
    const goesOn = (other: ModelRun) =>
      hasBegun(other) || (other.step?.chainRun ?? other.id) < run.id
    const overlap = this.tasks.get(run.task)?.overlap
    if (!this.mustCheckOverlap(run) || overlap === "allow" || !others.some(goesOn)) {
      this.set({ ...run, state: "running", step: run.step && { ...run.step, isKnown: true } })
    } else if (overlap === "queue") {
      this.set({ ...run, state: "blocked", holder: null, slot: null })
    } else {
      return "skipped"
    }
    return undefined
  }

  awaitCompletion(ticket: ModelRun): boolean {
    const run = this.heldBy(ticket)
    if (run?.state !== "running") return false
    this.set({ ...run, state: "awaiting", holder: null })
    return true
  }

  retry(run: ModelRun, lost = 0) {
    const again = { ...run, attempt: run.attempt + 1, lost: run.lost + lost }
    this.set({ ...again, ...this.turnOf(run) })
  }

  /**
   * Releases one waiting run per task, regardless of how many of the task's runs finish together.
   */
  finish(runs: ReadonlyArray<ModelRun>, endOf: (run: ModelRun) => ModelRunEnd, next: NextStepId) {
    const releasing = new Set<string>()
    for (const run of runs) this.runs.delete(run.id)
    for (const run of runs) {
      const { lost = false, started, status } = endOf(run)
      const attempts = started ? run.attempt : run.attempt - 1
      const earlier = Array.from({ length: run.attempt - (lost ? 0 : 1) }, (_, index) => index + 1)
      this.history.set(run.id, { id: run.id, status, attempts, earlier })
      const hasSteps = run.step?.index === 0 && run.step.isKnown
      if (hasSteps && (status === "succeeded" || status === "failed")) {
        this.addNextStep(run, status === "failed", lost, next)
      } else {
        releasing.add(run.task)
      }
      if (hasSteps && status === "cancelled") {
        const id = next(run.step.chainRun)
        this.history.set(id, { id, status: "skipped", attempts: 0, earlier: [] })
      }
    }
    for (const task of releasing) this.release(task)
  }

  /** Releases the oldest run that is waiting for another run of this task. */
  release(task: string) {
    const [oldest] = this.of(task)
      .filter(({ state }) => state === "blocked")
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    if (oldest !== undefined) {
      this.set({ ...oldest, state: oldest.queue === null ? "ready" : "parked" })
    }
  }

  handBack(node: number, id: string) {
    const run = this.runs.get(id)
    if (run?.holder === node) this.set({ ...run, state: "ready", holder: null })
  }

  /** A run fails once it has been lost with its node five times. */
  recover(next: NextStepId) {
    const held = [...this.runs.values()].filter(
      ({ holder }) => holder !== null && !this.alive.has(holder)
    )
    const isLost = (run: ModelRun) => run.state === "running"
    const isGivenUp = (run: ModelRun) => isLost(run) && run.lost >= 4
    for (const run of held) {
      if (!isLost(run)) this.set({ ...run, ...this.turnOf(run) })
      else if (!isGivenUp(run)) this.retry(run, 1)
    }
    const end = { status: "failed", started: true, lost: true } as const
    this.finish(held.filter(isGivenUp), () => end, next)
  }

  /** Only the node that makes a call can end the call. */
  cancel(runs: ReadonlyArray<ModelRun>, next: NextStepId) {
    const meant = runs.filter(({ stopping }) => !stopping)
    const isCalling = ({ state }: ModelRun) => state === "running"
    for (const run of meant.filter(isCalling)) this.set({ ...run, stopping: true })
    const endOf = ({ state }: ModelRun) =>
      ({ status: "cancelled", started: state === "awaiting" }) as const
    this.finish(
      meant.filter((run) => !isCalling(run)),
      endOf,
      next
    )
  }

  /** Removes a delayed task's run that has never started, without recording it. */
  withdraw(task: string) {
    for (const run of this.of(task)) {
      if (!hasBegun(run) && run.attempt === 1) this.runs.delete(run.id)
    }
  }

  /** Runs that have started keep their slots. All other runs wait in the new queue. */
  move(task: ModelTask, queue: string | null) {
    this.tasks.set(task.id, { ...task, queue })
    for (const run of this.of(task.id)) {
      if (run.stopping || run.queue === queue) continue
      if (hasBegun(run)) this.set({ ...run, queue })
      else if (run.state === "blocked") this.set({ ...run, queue, slot: null })
      else {
        const state = queue === null ? "ready" : "parked"
        this.set({ ...run, queue, state, holder: null, slot: null })
      }
    }
  }

  private mustCheckOverlap({ attempt, fired }: ModelRun): boolean {
    return fired && attempt === 1
  }

  /** A run that is being stopped needs no slot in its queue. */
  private turnOf({ queue, stopping }: ModelRun) {
    const state = queue === null || stopping ? ("ready" as const) : ("parked" as const)
    return { state, holder: null, slot: null }
  }

  /**
   * If a chain's second step needs no slot, it is held by the node that finished the first step.
   */
  private addNextStep(run: ModelRun, afterFailure: boolean, lost: boolean, next: NextStepId) {
    const chainRun = run.step?.chainRun ?? run.id
    const isHeld = run.queue === null && run.holder !== null && !lost
    this.set({
      ...run,
      ...this.turnOf(run),
      ...(isHeld && { state: "leased", holder: run.holder }),
      id: next(chainRun),
      attempt: 1,
      lost: 0,
      fired: false,
      step: { chainRun, index: 1, afterFailure, isKnown: true }
    })
  }
}
