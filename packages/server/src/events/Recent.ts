import { keptSeconds, type LiveEvent } from "@scheduling/domain/events/LiveEvent"
import { Timestamp } from "@scheduling/domain/shared/Timestamp"
import { Schema } from "effect"

type Without<A, K extends PropertyKey> = A extends unknown ? Omit<A, K> : never

/** What is told of a change: an event without its id and time. */
export type Change = Without<LiveEvent, "id" | "at">

/** A change that was told, with the id and the time that it got. */
export interface Told {
  readonly id: string
  readonly atMs: number
  readonly change: Change
}

interface Kept {
  /** Somebody follows the workspace, or did so until a while ago. */
  untilMs: number
  /** Nothing is missing since then. */
  sinceMs: number
  readonly told: Array<Told>
}

/**
 * The workspaces that somebody follows, on any node, and what was told of them lately. Bounded,
 * whatever is followed and however much happens: of a workspace of which too much happens, less is
 * kept.
 */
export class Recent {
  readonly #limits: RecentLimits
  /** The one that was followed longest ago comes first. */
  readonly #workspaces = new Map<string, Kept>()

  constructor(limits: RecentLimits = defaultLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#workspaces.size === 0
  }

  has(workspaceId: string): boolean {
    return this.#workspaces.has(workspaceId)
  }

  get workspaces(): Iterable<string> {
    return this.#workspaces.keys()
  }

  /** Returns whether nobody followed it before. */
  follow(workspaceId: string, nowMs: number): boolean {
    const before = this.#workspaces.get(workspaceId)
    const kept = before ?? { untilMs: 0, sinceMs: nowMs, told: [] }
    kept.untilMs = nowMs + this.#limits.followedMs
    this.#workspaces.delete(workspaceId)
    this.#workspaces.set(workspaceId, kept)
    for (const [oldest, { untilMs }] of this.#workspaces) {
      if (untilMs > nowMs && this.#workspaces.size <= this.#limits.workspaces) break
      this.#workspaces.delete(oldest)
    }
    return before === undefined
  }

  keep(workspaceId: string, told: ReadonlyArray<Told>): void {
    const kept = this.#workspaces.get(workspaceId)
    if (kept === undefined) return
    kept.told.push(...told)
    const most = Math.max(10, Math.floor(this.#limits.events / this.#workspaces.size))
    const surplus = kept.told.length - Math.min(most, this.#limits.eventsOfOne)
    if (surplus <= 0) return
    kept.sinceMs = kept.told[surplus - 1]?.atMs ?? kept.sinceMs
    kept.told.splice(0, surplus)
  }

  /** Forgets all that was told, because something may have been missed. */
  restart(nowMs: number): void {
    for (const kept of this.#workspaces.values()) {
      kept.sinceMs = nowMs
      kept.told.length = 0
    }
  }

  /** What was told after this id or time. Undefined if something may be missing. */
  after(workspaceId: string, id: string, nowMs: number): ReadonlyArray<Told> | undefined {
    const kept = this.#workspaces.get(workspaceId)
    const toldMs = timeOf(id)
    if (kept === undefined || toldMs === undefined || toldMs < nowMs - this.#limits.keptMs) {
      return undefined
    }
    const index = kept.told.findLastIndex((one) => one.id === id)
    if (index !== -1) return kept.told.slice(index + 1)
    // It named a moment rather than an event, or an event that another node heard of first.
    if (toldMs < kept.sinceMs || toldMs > nowMs + this.#limits.clockSlackMs) return undefined
    return kept.told.filter(({ atMs }) => atMs >= toldMs - this.#limits.clockSlackMs)
  }
}

/** Ids begin with the time, so that a node can resume from one that it has never seen. */
export const idOf = (atMs: number, node: string, count: number): string =>
  `${atMs}-${node}-${count}`

const timeOf = (id: string): number | undefined => {
  const time = /^(\d{1,15})-[0-9a-f]{8}-\d{1,15}$/.exec(id)?.[1]
  if (time !== undefined) return Number(time)
  return isTimestamp(id) ? Date.parse(id) : undefined
}

const isTimestamp = Schema.is(Timestamp)

export interface RecentLimits {
  readonly workspaces: number
  /** Of all workspaces together. */
  readonly events: number
  readonly eventsOfOne: number
  readonly keptMs: number
  /** Longer than events are kept, because whoever went away may come back for them. */
  readonly followedMs: number
  /** How far the clocks of nodes may be apart. An event may come twice within that time. */
  readonly clockSlackMs: number
}

const defaultLimits: RecentLimits = {
  workspaces: 5_000,
  events: 50_000,
  eventsOfOne: 2_000,
  keptMs: keptSeconds * 1_000,
  followedMs: 420_000,
  clockSlackMs: 1_000
}
