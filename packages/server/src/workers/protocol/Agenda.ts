import type { DueForWorkers } from "../../engine/index.ts"

/** Runs of a workspace with the same labels. Times are on the database's clock. */
interface Entry {
  readonly labels: ReadonlyArray<string>
  due: number
  readonly upcomingMs: ReadonlyArray<number>
  /** How many of those are due. */
  passed: number
}

/** What a node knows to be due for the agents that wait at it, now and soon. */
export class Agenda {
  readonly #byWorkspace = new Map<string, ReadonlyArray<Entry>>()
  /** When the next run will be due. */
  nextMs = Number.POSITIVE_INFINITY

  /** Replaces what was known of these workspaces. Of others, nothing is kept unless `keepsOthers`. */
  learn(
    workspaceIds: ReadonlyArray<string>,
    found: ReadonlyArray<DueForWorkers>,
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

  /** Counts what has become due. */
  pass(nowMs: number): void {
    if (nowMs < this.nextMs) return
    for (const entries of this.#byWorkspace.values()) {
      for (const entry of entries) {
        for (; (entry.upcomingMs[entry.passed] ?? Infinity) <= nowMs; entry.passed++) entry.due++
      }
    }
    this.#findNext()
  }

  /** Hands out as many due runs as there are slots, as the sets of labels that they need. */
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
