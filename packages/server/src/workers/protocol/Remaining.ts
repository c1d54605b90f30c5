import type { DueForWorkers } from "../../engine/index.ts"
import { Agenda } from "./Agenda.ts"

/**
 * For this long, a claim trusts the look before it. What is due for other labels is seen this much
 * later by an agent that gets as many runs as it asks for.
 */
const trustedMs = 500

/**
 * What a look has found to be due beyond what was taken since. It saves a busy agent a look for each
 * claim, and it may be wrong: others take runs too.
 */
export class Remaining {
  readonly #agenda = new Agenda()
  readonly #foundAtMs = new Map<string, number>()

  learn(
    workspaceIds: ReadonlyArray<string>,
    found: ReadonlyArray<DueForWorkers>,
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
    if (nowMs - foundAtMs <= trustedMs) return this.#agenda.take(workspaceId, has, slots)
    this.forget(workspaceId)
    return []
  }

  /** There was less than remained. */
  forget(workspaceId: string): void {
    this.#foundAtMs.delete(workspaceId)
    this.#agenda.learn([workspaceId], [], true)
  }
}
