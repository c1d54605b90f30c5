import { Clock, Context, Deferred, Effect, Layer, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { loop, stuckRestartOptions, Waker } from "../core/index.ts"
import { UnsentChanges } from "./UnsentChanges.ts"
import {
  type Change,
  changeId,
  RecentChanges,
  resetChange,
  type SentChange
} from "./RecentChanges.ts"
import { Signals } from "./Signals.ts"

type Announcement = "following" | "still-following"

type Follower = (sent: ReadonlyArray<SentChange>) => void

export interface StreamStart {
  /** The id of the position at which the stream begins. */
  readonly id: string
  /**
   * The changes after the position from which the client resumes. Undefined if some of these
   * changes are no longer known.
   */
  readonly missed: ReadonlyArray<SentChange> | undefined
}

/**
 * Sends the changes of a workspace to its subscribers on any node. A node with a subscriber
 * announces the workspace: `following <node> <workspaces>`, and later `still-following`. From then
 * on, every node sends its changes of the workspace to all nodes, itself included: `changed <node>
 * <workspace> <changes>`. PostgreSQL delivers the messages to all nodes in the same order, so all
 * nodes keep the same list. A change in a workspace without subscribers costs a lookup in an empty
 * map.
 *
 * The tables have the authoritative state. Whenever messages may be lost (a broken connection, a
 * lost node, too many messages at once), subscribers get a `reset` and read the tables again.
 */
export class Changes {
  readonly waker = new Waker()
  /** True if this is the only node, which then delivers its changes directly. */
  readonly isAlone: boolean
  readonly #clock: Clock.Clock
  readonly #node = randomUUID().slice(0, 8)
  readonly #recent = new RecentChanges()
  readonly #unsent = new UnsentChanges()
  readonly #followers = new Map<string, Set<Follower>>()
  readonly #toAnnounce = new Set<string>()
  /**
   * The announcements that this node has sent but not received back. When this node receives its
   * own announcement, all other nodes have received it too.
   */
  readonly #announcing = new Map<string, Deferred.Deferred<void>>()
  #count = 0
  #announceAllAtMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock.Clock, isAlone: boolean) {
    this.#clock = clock
    this.isAlone = isAlone
  }

  /** True if no workspace has subscribers, so that callers need not build changes. */
  get isIdle(): boolean {
    return this.#recent.isEmpty
  }

  isFollowed(workspaceId: string): boolean {
    return this.#recent.has(workspaceId)
  }

  /** Sends changes, which must be committed. */
  publish(workspaceId: string, changes: ReadonlyArray<Change>): void {
    if (changes.length === 0 || !this.isFollowed(workspaceId)) return
    this.#unsent.add(workspaceId, changes, this.#nowMs)
    this.waker.wake()
  }

  /** Resets all subscribers, because changes may have been missed. */
  resetAll(): void {
    for (const id of this.#recent.workspaces) this.#unsent.reset(id, this.#nowMs)
    this.waker.wake()
  }

  /** Calls the follower with each new change until the scope closes. */
  follow(
    workspaceId: string,
    after: string | undefined,
    follower: Follower
  ): Effect.Effect<StreamStart, never, Scope.Scope> {
    const begin = Effect.sync((): StreamStart => {
      const followers = this.#followers.get(workspaceId)
      if (followers === undefined) this.#followers.set(workspaceId, new Set([follower]))
      else followers.add(follower)
      const id = this.#nextId()
      const missed = after === undefined ? [] : this.#recent.after(workspaceId, after, this.#nowMs)
      return { id, missed }
    })
    const end = Effect.sync(() => {
      const followers = this.#followers.get(workspaceId)
      followers?.delete(follower)
      if (followers?.size === 0) this.#followers.delete(workspaceId)
    })
    return Effect.andThen(
      this.#announced(workspaceId),
      Effect.acquireRelease(begin, () => end)
    )
  }

  receive(payload: string): void {
    const [kind, from = "", ...rest] = payload.split(" ")
    if (kind === "following" || kind === "still-following") {
      for (const workspaceId of rest) this.#receiveFollowing(workspaceId, kind)
    }
    if (kind === "changed" && this.isFollowed(rest[0] ?? "")) {
      const [workspaceId = ""] = rest
      const sent = payload.slice(`changed ${from} ${workspaceId} `.length)
      this.#deliver(workspaceId, JSON.parse(sent) as ReadonlyArray<SentChange>)
    }
    if (kind === "asking" && from !== this.#node) this.#announceAll()
  }

  /**
   * Resets all subscribers when this process starts to listen, because it may have missed earlier
   * messages.
   */
  connected(): void {
    this.#recent.restart(this.#nowMs)
    for (const workspaceId of this.#followers.keys()) {
      this.#deliver(workspaceId, [this.#sent(resetChange)])
    }
    this.#announceAll()
  }

  /**
   * Returns the messages with the pending changes. The only node of a service delivers its changes
   * itself.
   */
  takePayloads(): ReadonlyArray<string> {
    const nowMs = this.#nowMs
    const following = [...this.#toAnnounce]
    this.#toAnnounce.clear()
    const isTimeForAll = nowMs >= this.#announceAllAtMs
    if (isTimeForAll) this.#announceAllAtMs = nowMs + announceEveryMs
    const still = isTimeForAll ? [...this.#followers.keys()] : []
    const taken = this.#unsent.take(nowMs)
    if (this.isAlone) {
      for (const id of [...following, ...still]) this.#receiveFollowing(id, "following")
      for (const [id, changes] of taken) this.#deliver(id, changes.map(this.#sent))
      return []
    }
    return [
      ...this.#announcements("following", following),
      ...this.#announcements("still-following", still),
      ...taken.flatMap(([id, changes]) =>
        inPayloads(changes.map((change) => JSON.stringify(this.#sent(change)))).map(
          (some) => `changed ${this.#node} ${id} [${some}]`
        )
      )
    ]
  }

  /** True if changes are left for a later message. */
  get hasMore(): boolean {
    return !this.#unsent.isEmpty
  }

  get #nowMs(): number {
    return this.#clock.currentTimeMillisUnsafe()
  }

  #nextId(): string {
    return changeId(this.#nowMs, this.#node, ++this.#count)
  }

  readonly #sent = (change: Change): SentChange => ({
    id: this.#nextId(),
    atMs: this.#nowMs,
    change
  })

  #deliver(workspaceId: string, sent: ReadonlyArray<SentChange>): void {
    this.#recent.keep(workspaceId, sent)
    this.#followers.get(workspaceId)?.forEach((follower) => follower(sent))
  }

  #announcements(kind: Announcement, workspaces: ReadonlyArray<string>): ReadonlyArray<string> {
    return inParts(workspaces, workspacesInPayload).map(
      (some) => `${kind} ${this.#node} ${some.join(" ")}`
    )
  }

  #announceAll(): void {
    this.#announceAllAtMs = Number.NEGATIVE_INFINITY
    this.waker.wake()
  }

  /** Waits until all nodes know that the workspace has a subscriber on this node. */
  #announced(workspaceId: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#followers.has(workspaceId)) return Effect.void
      const asked = this.#announcing.get(workspaceId) ?? Deferred.makeUnsafe<void>()
      this.#announcing.set(workspaceId, asked)
      this.#toAnnounce.add(workspaceId)
      this.waker.wake()
      return Effect.ignore(Effect.timeout(Deferred.await(asked), echoWithinMs))
    })
  }

  #receiveFollowing(workspaceId: string, kind: Announcement): void {
    const isNew = this.#recent.follow(workspaceId, this.#nowMs)
    const asked = this.#announcing.get(workspaceId)
    if (asked !== undefined && kind === "following") {
      this.#announcing.delete(workspaceId)
      Deferred.doneUnsafe(asked, Effect.void)
    }
    if (isNew && kind === "still-following") {
      // The workspace had subscribers before this node knew about them, so they may have missed
      // changes of this node.
      this.#unsent.reset(workspaceId, this.#nowMs)
      this.waker.wake()
    }
  }
}

/** The live changes of one node. The default has no subscribers and sends nothing. */
export const LiveChanges = Context.Reference<Changes>("@scheduling/server/events/LiveChanges", {
  defaultValue: () => new Changes(Clock.Clock.defaultValue(), true)
})

/** Provides the live changes of this node, connected to the other nodes by signals. */
export const LiveChangesLayer: Layer.Layer<never, never, Signals> = Layer.effect(
  LiveChanges,
  Effect.gen(function* () {
    const signals = yield* Signals
    const changes = new Changes(yield* Clock.Clock, signals.isAlone)
    yield* signals.subscribe({
      received: (payload) => changes.receive(payload),
      connected: () => changes.connected()
    })
    const turn = Effect.gen(function* () {
      yield* changes.waker.wait(announceEveryMs)
      yield* Effect.sleep(gatherMs)
      const payloads = changes.takePayloads()
      const sending = Effect.onError(signals.notify(payloads), () =>
        Effect.sync(() => changes.resetAll())
      )
      if (payloads.length > 0 && !(yield* sending)) {
        yield* Effect.sleep(notifyAgainMs)
        changes.resetAll()
      }
      if (changes.hasMore) changes.waker.wake()
    })
    yield* Effect.forkScoped(loop("sending changes", turn, stuckRestartOptions))
    return changes
  })
)

/** How often a node sends its messages, all in one commit. */
const gatherMs = 50

/** How often workspaces are announced again, for nodes that missed an announcement. */
const announceEveryMs = 60_000

const echoWithinMs = 2_000

const notifyAgainMs = 1_000

/** These limits keep the payload of a NOTIFY below PostgreSQL's limit of 8,000 bytes. */
const workspacesInPayload = 200
const changesInPayload = 7_800

/**
 * Joins the strings with commas. The result has as many parts as needed, so that each part fits
 * into a payload.
 */
const inPayloads = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let bytes = changesInPayload
  for (const text of texts) {
    const more = Buffer.byteLength(text) + 1
    const last = parts.at(-1)
    bytes += more
    if (last !== undefined && bytes <= changesInPayload) parts[parts.length - 1] = `${last},${text}`
    else {
      parts.push(text)
      bytes = more
    }
  }
  return parts
}

const inParts = <A>(all: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size)
  )
