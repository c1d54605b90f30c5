import type { DueWorkerRuns } from "../../engine/index.ts"

/** Runs of one workspace that require the same labels. Times are on the database clock. */
interface Entry {
  readonly labels: ReadonlyArray<string>
  due: number
  readonly upcomingMs: ReadonlyArray<number>
  /** The number of times in `upcomingMs` that have passed. They are already counted in `due`. */
  passed: number
}

/** The runs for agents that are due now or soon, as far as this node knows. */
export class KnownDueRuns {
  readonly #byWorkspace = new Map<string, ReadonlyArray<Entry>>()
  nextMs = Number.POSITIVE_INFINITY

  /**
   * Replaces the entries of these workspaces. Entries of other workspaces are dropped, unless
   * `keepsOthers` is true.
   */
  learn(
    workspaceIds: ReadonlyArray<string>,
    found: ReadonlyArray<DueWorkerRuns>,
    keepsOthers = false
  ): void {
    if (keepsOthers) for (const id of workspaceIds) this.#byWorkspace.delete(id)
    else this.#byWorkspace.clear()
    for (const [id, sets] of Map.groupBy(found, ({ workspace_id }) => workspace_id)) {
      this.#byWorkspace.set(
        id,
        sets.map(({ due, labels, upcoming_ms }) => ({
          labels,
          due,
          upcomingMs: upcoming_ms,
          passed: 0
        }))
      )
    }
    this.#findNext()
  }

  /** Moves runs that have become due from `upcomingMs` to `due`. */
  pass(nowMs: number): void {
    if (nowMs < this.nextMs) return
    for (const entries of this.#byWorkspace.values()) {
      for (const entry of entries) {
        for (; (entry.upcomingMs[entry.passed] ?? Infinity) <= nowMs; entry.passed++) entry.due++
      }
    }
    this.#findNext()
  }

  /** Takes up to `slots` due runs, and returns the sets of labels that they require. */
  take(
    workspaceId: string,
    has: (labels: ReadonlyArray<string>) => boolean,
    slots: number
  ): ReadonlyArray<ReadonlyArray<string>> {
    const taken: Array<ReadonlyArray<string>> = []
    let left = slots
    for (const entry of this.#byWorkspace.get(workspaceId) ?? []) {
      if (left <= 0) break
      if (entry.due <= 0 || !has(entry.labels)) continue
      taken.push(entry.labels)
      const given = Math.min(left, entry.due)
      entry.due -= given
      left -= given
    }
    return taken
  }

  #findNext(): void {
    this.nextMs = Number.POSITIVE_INFINITY
    for (const entries of this.#byWorkspace.values()) {
      for (const { passed, upcomingMs } of entries) {
        this.nextMs = Math.min(this.nextMs, upcomingMs[passed] ?? Infinity)
      }
    }
  }
}
