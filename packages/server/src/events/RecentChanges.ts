import { resumableSeconds, type LiveEvent } from "@scheduling/domain/events/Event"
import { type ExecutionKind, TaskId } from "@scheduling/domain/executions/Execution"
import { Timestamp } from "@scheduling/domain/shared/Timestamp"
import { Schema } from "effect"

type ChangeOf<Event> = Event extends { readonly type: infer Type; readonly data: infer Data }
  ? { readonly type: Type; readonly data: Omit<Data, "notice"> }
  : never

/** The content of an event, without the fields that are the same in all events of a stream. */
export type Change = ChangeOf<LiveEvent>

export const taskChange = (
  type: "task.created" | "task.updated" | "task.deleted",
  { id, kind }: { readonly id: string; readonly kind: ExecutionKind }
): Change => ({ type, data: { task: { id: TaskId.make(id), kind }, execution: null } })

export const resetChange: Change = { type: "reset", data: {} }

export interface SentChange {
  readonly id: string
  readonly atMs: number
  readonly change: Change
}

interface Kept {
  /** Until when the workspace counts as having subscribers. */
  untilMs: number
  /** `sent` contains every change since this time. */
  sinceMs: number
  readonly sent: Array<SentChange>
}

/**
 * The latest changes of all workspaces that have subscribers on any node. The total number of
 * changes is bounded: a workspace with very many changes keeps only its last ones.
 */
export class RecentChanges {
  readonly #limits: RecentChangesLimits
  /** The followed workspaces, ordered by their last announcement, oldest first. */
  readonly #workspaces = new Map<string, Kept>()

  constructor(limits: RecentChangesLimits = defaultLimits) {
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

  /** Records that the workspace has subscribers. Returns true if it had none before. */
  follow(workspaceId: string, nowMs: number): boolean {
    const before = this.#workspaces.get(workspaceId)
    const kept = before ?? { untilMs: 0, sinceMs: nowMs, sent: [] }
    kept.untilMs = nowMs + this.#limits.followedMs
    this.#workspaces.delete(workspaceId)
    this.#workspaces.set(workspaceId, kept)
    for (const [oldest, { untilMs }] of this.#workspaces) {
      if (untilMs > nowMs && this.#workspaces.size <= this.#limits.workspaces) break
      this.#workspaces.delete(oldest)
    }
    return before === undefined
  }

  keep(workspaceId: string, sent: ReadonlyArray<SentChange>): void {
    const kept = this.#workspaces.get(workspaceId)
    if (kept === undefined) return
    kept.sent.push(...sent)
    const most = Math.max(10, Math.floor(this.#limits.events / this.#workspaces.size))
    const surplus = kept.sent.length - Math.min(most, this.#limits.eventsOfOne)
    if (surplus <= 0) return
    kept.sinceMs = kept.sent[surplus - 1]?.atMs ?? kept.sinceMs
    kept.sent.splice(0, surplus)
  }

  /** Drops all changes, because some may be missing. */
  restart(nowMs: number): void {
    for (const kept of this.#workspaces.values()) {
      kept.sinceMs = nowMs
      kept.sent.length = 0
    }
  }

  /** Returns the changes after this id or time. Returns undefined if some may be missing. */
  after(workspaceId: string, id: string, nowMs: number): ReadonlyArray<SentChange> | undefined {
    const kept = this.#workspaces.get(workspaceId)
    const sentMs = timeOf(id)
    if (kept === undefined || sentMs === undefined || sentMs < nowMs - this.#limits.keptMs) {
      return undefined
    }
    const index = kept.sent.findLastIndex((one) => one.id === id)
    if (index !== -1) return kept.sent.slice(index + 1)
    // The id is a time, or it was created by another node.
    if (sentMs < kept.sinceMs || sentMs > nowMs + this.#limits.clockSlackMs) return undefined
    return kept.sent.filter(({ atMs }) => atMs >= sentMs - this.#limits.clockSlackMs)
  }
}

/**
 * Creates the id of a change event. It starts with the timestamp, so that a node can resume from an
 * id it has never seen.
 */
export const changeId = (atMs: number, node: string, count: number): string =>
  `${atMs}-${node}-${count}`

const timeOf = (id: string): number | undefined => {
  const time = /^(\d{1,15})-[0-9a-f]{8}-\d{1,15}$/.exec(id)?.[1]
  if (time !== undefined) return Number(time)
  return isTimestamp(id) ? Date.parse(id) : undefined
}

const isTimestamp = Schema.is(Timestamp)

export interface RecentChangesLimits {
  readonly workspaces: number
  /** Maximum number of events of all workspaces together. */
  readonly events: number
  readonly eventsOfOne: number
  readonly keptMs: number
  /**
   * How long changes of a workspace are kept after its last announcement. Longer than `keptMs`,
   * because a subscriber may reconnect and request the events that it missed.
   */
  readonly followedMs: number
  /**
   * The largest expected difference between the clocks of nodes. A client that resumes may get the
   * events of this period twice.
   */
  readonly clockSlackMs: number
}

const defaultLimits: RecentChangesLimits = {
  workspaces: 5_000,
  events: 50_000,
  eventsOfOne: 2_000,
  keptMs: resumableSeconds * 1_000,
  followedMs: 420_000,
  clockSlackMs: 1_000
}
