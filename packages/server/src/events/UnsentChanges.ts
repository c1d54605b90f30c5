import { type Change, resetChange } from "./RecentChanges.ts"

interface Gathered {
  readonly changes: Array<Change>
  /** The start of the second in which `count` counts changes. */
  sinceMs: number
  count: number
  hasOverflowed: boolean
}

/**
 * The changes to send next, by workspace. If a workspace has more changes per second than the
 * limit, they are replaced by one `reset`, because no subscriber could follow so many.
 */
export class UnsentChanges {
  readonly #limits: UnsentChangesLimits
  readonly #gathered = new Map<string, Gathered>()

  constructor(limits: UnsentChangesLimits = defaultLimits) {
    this.#limits = limits
  }

  add(workspaceId: string, changes: ReadonlyArray<Change>, nowMs: number): void {
    const gathered = this.#of(workspaceId, nowMs)
    for (const change of changes) {
      if (++gathered.count > this.#limits.perSecond) {
        gathered.hasOverflowed = true
        return
      }
      gathered.changes.push(change)
    }
  }

  /** Sends a `reset` to the subscribers of the workspace, because they may have missed changes. */
  reset(workspaceId: string, nowMs: number): void {
    this.#of(workspaceId, nowMs).hasOverflowed = true
  }

  /** Removes and returns the changes that are due. `isEmpty` says whether more are left. */
  take(nowMs: number): ReadonlyArray<readonly [workspaceId: string, Array<Change>]> {
    const taken: Array<readonly [string, Array<Change>]> = []
    for (const [workspaceId, gathered] of this.#gathered) {
      const changes = gathered.changes.splice(0)
      const hasPassed = gathered.sinceMs <= nowMs - 1_000
      if (gathered.hasOverflowed && (hasPassed || gathered.count <= this.#limits.perSecond)) {
        gathered.hasOverflowed = false
        changes.push(resetChange)
      }
      if (hasPassed && !gathered.hasOverflowed) this.#gathered.delete(workspaceId)
      if (changes.length > 0) taken.push([workspaceId, changes])
    }
    return taken
  }

  get isEmpty(): boolean {
    return this.#gathered.size === 0
  }

  #of(workspaceId: string, nowMs: number): Gathered {
    let gathered = this.#gathered.get(workspaceId)
    if (gathered === undefined) {
      gathered = { changes: [], sinceMs: nowMs, count: 0, hasOverflowed: false }
      this.#gathered.set(workspaceId, gathered)
    } else if (gathered.sinceMs <= nowMs - 1_000 && !gathered.hasOverflowed) {
      gathered.sinceMs = nowMs
      gathered.count = gathered.changes.length
    }
    return gathered
  }
}

export interface UnsentChangesLimits {
  /** Maximum number of changes per second, workspace and node. */
  readonly perSecond: number
}

const defaultLimits: UnsentChangesLimits = { perSecond: 200 }
