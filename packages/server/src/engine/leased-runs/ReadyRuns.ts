import type { LeasedRun } from "../Run.ts"

interface ReadyRun {
  readonly run: LeasedRun
  readonly sinceMs: number
}

/** The queues of a share, one per workspace and target. They take turns. */
type ReadyShare = Map<string, Array<ReadyRun>>

/** Due runs that wait for a call slot. Shares take turns, and so do the workspaces of a share. */
export class ReadyRuns {
  readonly #shares = new Map<number, ReadyShare>()
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Shares in the order of their turns. */
  shares(): ReadonlyArray<number> {
    return [...this.#shares.keys()]
  }

  add(run: LeasedRun, nowMs: number): void {
    let queues = this.#shares.get(run.share)
    if (queues === undefined) {
      queues = new Map()
      this.#shares.set(run.share, queues)
    }
    const name = `${run.workspace_id} ${run.target}`
    const ready = { run, sinceMs: nowMs }
    const queue = queues.get(name)
    if (queue === undefined) queues.set(name, [ready])
    else queue.push(ready)
    this.#count++
  }

  /**
   * Takes a run whose target has room from the share. The share and the run's queue then wait
   * behind all others.
   */
  takeOne(share: number, hasRoom: (target: string | null) => boolean): LeasedRun | undefined {
    const queues = this.#shares.get(share)
    if (queues === undefined) return undefined
    for (const [name, queue] of queues) {
      const next = queue[0]
      if (next === undefined || !hasRoom(next.run.target)) continue
      queue.shift()
      this.#count--
      queues.delete(name)
      if (queue.length > 0) queues.set(name, queue)
      this.#shares.delete(share)
      if (queues.size > 0) this.#shares.set(share, queues)
      return next.run
    }
    return undefined
  }

  /** Removes and returns runs that became ready before `sinceMs`. */
  takeOlder(sinceMs: number): ReadonlyArray<LeasedRun> {
    const taken: Array<LeasedRun> = []
    for (const [share, queues] of this.#shares) {
      for (const [name, queue] of queues) {
        // The queue is in the order in which its runs became ready.
        const kept = queue.findIndex((ready) => ready.sinceMs >= sinceMs)
        const older = queue.splice(0, kept === -1 ? queue.length : kept)
        for (const { run } of older) taken.push(run)
        if (queue.length === 0) queues.delete(name)
      }
      if (queues.size === 0) this.#shares.delete(share)
    }
    this.#count -= taken.length
    return taken
  }
}
