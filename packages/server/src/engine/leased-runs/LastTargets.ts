import type { LeasedRun } from "../Run.ts"
import type { CallSlots } from "./CallSlots.ts"

/** How long the last targets of a share are used to predict its next targets. */
const believedMs = 2_000

interface Targets {
  readonly all: Set<string | null>
  readonly untilMs: number
}

/**
 * The targets that shares called last. The next runs of a share most likely call the same targets.
 * A node knows nothing else about a run before it claims the run, and a claimed run whose target
 * has no free slot costs a second statement. Without this prediction, a quarter of the runs cost a
 * second statement if one account called one origin.
 */
export class LastTargets {
  readonly #byShare = new Map<number, Targets>()
  readonly #slots: CallSlots

  constructor(slots: CallSlots) {
    this.#slots = slots
  }

  notice(runs: ReadonlyArray<LeasedRun>, nowMs: number): void {
    const noticed = new Map<number, Targets>()
    for (const { share, target } of runs) {
      let targets = noticed.get(share)
      if (targets === undefined) {
        targets = { all: new Set(), untilMs: nowMs + believedMs }
        noticed.set(share, targets)
      }
      targets.all.add(target)
    }
    for (const [share, targets] of noticed) this.#byShare.set(share, targets)
  }

  clear(): void {
    this.#byShare.clear()
  }

  /**
   * Estimates how many more runs would get call slots if each share calls the same targets as last
   * time.
   */
  room(nowMs: number): number {
    this.#forget(nowMs)
    if (this.#byShare.size === 0) return Infinity
    let room = 0
    for (const [share, targets] of this.#byShare) room += this.#roomOf(share, targets, nowMs)
    return room
  }

  /** Shares with room for fewer than `least` runs. */
  sharesBelow(least: number, nowMs: number): ReadonlyArray<number> {
    this.#forget(nowMs)
    return [...this.#byShare]
      .filter(([share, targets]) => this.#roomOf(share, targets, nowMs) < least)
      .map(([share]) => share)
  }

  #roomOf(share: number, targets: Targets, nowMs: number): number {
    let room = 0
    for (const target of targets.all) room += this.#slots.roomOf(share, target, nowMs)
    return room
  }

  #forget(nowMs: number): void {
    for (const [share, { untilMs }] of this.#byShare) {
      if (untilMs <= nowMs) this.#byShare.delete(share)
    }
  }
}
