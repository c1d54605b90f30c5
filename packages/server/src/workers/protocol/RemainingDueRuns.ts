import type { DueWorkerRuns } from "../../engine/index.ts"
import { KnownDueRuns } from "./KnownDueRuns.ts"

/**
 * How long claims use the result of an earlier read. A busy agent notices runs with other labels up
 * to this much later.
 */
const cacheTtlMs = 500

/**
 * The due runs that a read has found and that no agent at this node has taken. They save a busy
 * agent a read per claim. They may be outdated, because other nodes claim runs too.
 */
export class RemainingDueRuns {
  readonly #agenda = new KnownDueRuns()
  readonly #foundAtMs = new Map<string, number>()

  learn(
    workspaceIds: ReadonlyArray<string>,
    found: ReadonlyArray<DueWorkerRuns>,
    nowMs: number
  ): void {
    this.#agenda.learn(
      workspaceIds,
      found.map((one) => ({ ...one, upcoming_ms: [] })),
      true
    )
    for (const id of workspaceIds) this.#foundAtMs.delete(id)
    for (const { workspace_id } of found) this.#foundAtMs.set(workspace_id, nowMs)
  }

  take(
    workspaceId: string,
    has: (labels: ReadonlyArray<string>) => boolean,
    slots: number,
    nowMs: number
  ): ReadonlyArray<ReadonlyArray<string>> {
    const foundAtMs = this.#foundAtMs.get(workspaceId)
    if (foundAtMs === undefined) return []
    if (nowMs - foundAtMs <= cacheTtlMs) return this.#agenda.take(workspaceId, has, slots)
    this.forget(workspaceId)
    return []
  }

  /** Drops the runs of a workspace, because some of them could not be claimed. */
  forget(workspaceId: string): void {
    this.#foundAtMs.delete(workspaceId)
    this.#agenda.learn([workspaceId], [], true)
  }
}
