import { Clock, Context, Deferred, Effect, Layer, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { Doorbell, loop, mayBeStuck } from "../core/index.ts"
import { Outgoing } from "./Outgoing.ts"
import { type Change, idOf, Recent, type SentChange } from "./Recent.ts"
import { Signals } from "./Signals.ts"

type Announcement = "following" | "still-following"

type Follower = (sent: ReadonlyArray<SentChange>) => void

export interface Following {
  /** The id at which this stream begins. */
  readonly id: string
  /** The changes after the id to resume from. Undefined if some may be missing. */
  readonly missed: ReadonlyArray<SentChange> | undefined
}

/**
 * Sends the changes of a workspace to its subscribers on any node. A node with a subscriber
 * announces the workspace: `following <node> <workspaces>`, and `still-following` later. From then
 * on every node sends its changes to all nodes, itself included: `changed <node> <workspace>
 * <changes>`. PostgreSQL delivers the messages to all nodes in one order, so all nodes keep the
 * same list. A change in a workspace without subscribers costs a lookup in an empty map.
 *
 * The tables hold the truth. Whenever messages may be lost (a broken connection, a lost node, too
 * many at once), subscribers get a `reset` and read the tables again.
 */
export class Changes {
  readonly bell = new Doorbell()
  /** Whether this is the only node, which then notifies itself directly. */
  readonly isAlone: boolean
  readonly #clock: Clock.Clock
  readonly #node = randomUUID().slice(0, 8)
  readonly #recent = new Recent()
  readonly #outgoing = new Outgoing()
  readonly #followers = new Map<string, Set<Follower>>()
  /** Workspaces that this node must announce. */
  readonly #toAnnounce = new Set<string>()
  /** Announcements that have not come back yet. One that has come back has reached all nodes. */
  readonly #announcing = new Map<string, Deferred.Deferred<void>>()
  #count = 0
  #announceAllAtMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock.Clock, isAlone: boolean) {
    this.#clock = clock
    this.isAlone = isAlone
  }

  /** Whether no workspace has subscribers, so that no change needs to be described. */
  get isIdle(): boolean {
    return this.#recent.isEmpty
  }

  isFollowed(workspaceId: string): boolean {
    return this.#recent.has(workspaceId)
  }

  /** Sends committed changes. */
  tell(workspaceId: string, changes: ReadonlyArray<Change>): void {
    if (changes.length === 0 || !this.isFollowed(workspaceId)) return
    this.#outgoing.add(workspaceId, changes, this.#nowMs)
    this.bell.ring()
  }

  /** Resets all subscribers, because changes may have been missed. */
  resetAll(): void {
    for (const id of this.#recent.workspaces) this.#outgoing.reset(id, this.#nowMs)
    this.bell.ring()
  }

  /** Calls the follower with new changes until the scope closes. */
  follow(
    workspaceId: string,
    after: string | undefined,
    follower: Follower
  ): Effect.Effect<Following, never, Scope.Scope> {
    const begin = Effect.sync((): Following => {
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

  heard(payload: string): void {
    const [kind, from = "", ...rest] = payload.split(" ")
    if (kind === "following" || kind === "still-following") {
      for (const workspaceId of rest) this.#heardFollowing(workspaceId, kind)
    }
    if (kind === "changed" && this.isFollowed(rest[0] ?? "")) {
      const [workspaceId = ""] = rest
      const sent = payload.slice(`changed ${from} ${workspaceId} `.length)
      this.#deliver(workspaceId, JSON.parse(sent) as ReadonlyArray<SentChange>)
    }
    if (kind === "asking" && from !== this.#node) this.#announceAll()
  }

  /** Called when this process begins to listen. It may have missed earlier messages. */
  connected(): void {
    this.#recent.restart(this.#nowMs)
    for (const workspaceId of this.#followers.keys()) {
      this.#deliver(workspaceId, [this.#sent({ type: "reset" })])
    }
    this.#announceAll()
  }

  /**
   * Takes the gathered changes. Returns the messages to send, or delivers them if there is one
   * node.
   */
  takePayloads(): ReadonlyArray<string> {
    const nowMs = this.#nowMs
    const following = [...this.#toAnnounce]
    this.#toAnnounce.clear()
    const isTimeForAll = nowMs >= this.#announceAllAtMs
    if (isTimeForAll) this.#announceAllAtMs = nowMs + announceEveryMs
    const still = isTimeForAll ? [...this.#followers.keys()] : []
    const taken = this.#outgoing.take(nowMs)
    if (this.isAlone) {
      for (const id of [...following, ...still]) this.#heardFollowing(id, "following")
      for (const [id, changes] of taken) this.#deliver(id, changes.map(this.#sent))
      return []
    }
    return [
      ...this.#announcements("following", following),
      ...this.#announcements("still-following", still),
      ...taken.flatMap(([id, changes]) =>
        inParts(changes.map(this.#sent), changesInPayload).map(
          (some) => `changed ${this.#node} ${id} ${JSON.stringify(some)}`
        )
      )
    ]
  }

  /** Whether changes are left for a later message. */
  get hasMore(): boolean {
    return !this.#outgoing.isEmpty
  }

  get #nowMs(): number {
    return this.#clock.currentTimeMillisUnsafe()
  }

  #nextId(): string {
    return idOf(this.#nowMs, this.#node, ++this.#count)
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
    this.bell.ring()
  }

  /**
   * Waits until all nodes know the workspace. After a broken connection there is a reset anyway.
   */
  #announced(workspaceId: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#followers.has(workspaceId)) return Effect.void
      const asked = this.#announcing.get(workspaceId) ?? Deferred.makeUnsafe<void>()
      this.#announcing.set(workspaceId, asked)
      this.#toAnnounce.add(workspaceId)
      this.bell.ring()
      return Effect.ignore(Effect.timeout(Deferred.await(asked), echoWithinMs))
    })
  }

  #heardFollowing(workspaceId: string, kind: Announcement): void {
    const isNew = this.#recent.follow(workspaceId, this.#nowMs)
    const asked = this.#announcing.get(workspaceId)
    if (asked !== undefined && kind === "following") {
      this.#announcing.delete(workspaceId)
      Deferred.doneUnsafe(asked, Effect.void)
    }
    if (isNew && kind === "still-following") {
      // It was followed before this node knew, so subscribers may lack a change of this node.
      this.#outgoing.reset(workspaceId, this.#nowMs)
      this.bell.ring()
    }
  }
}

/** The changes of one node. The default has no subscribers and sends nothing. */
export const LiveChanges = Context.Reference<Changes>("@scheduling/server/events/LiveChanges", {
  defaultValue: () => new Changes(Clock.Clock.defaultValue(), true)
})

/** Connects the changes of this node with those of the others. */
export const LiveChangesLayer: Layer.Layer<never, never, Signals> = Layer.effect(
  LiveChanges,
  Effect.gen(function* () {
    const signals = yield* Signals
    const changes = new Changes(yield* Clock.Clock, signals.isAlone)
    yield* signals.hear({
      heard: (payload) => changes.heard(payload),
      connected: () => changes.connected()
    })
    const turn = Effect.gen(function* () {
      yield* changes.bell.wait(announceEveryMs)
      yield* Effect.sleep(gatherMs)
      const payloads = changes.takePayloads()
      const sending = Effect.onError(signals.notify(payloads), () =>
        Effect.sync(() => changes.resetAll())
      )
      if (payloads.length > 0 && !(yield* sending)) {
        yield* Effect.sleep(notifyAgainMs)
        changes.resetAll()
      }
      if (changes.hasMore) changes.bell.ring()
    })
    yield* Effect.forkScoped(loop("sending changes", turn, mayBeStuck))
    return changes
  })
)

/** A node sends its messages at most this often, all in one commit. */
const gatherMs = 50

/** Followed workspaces are announced again, for nodes that missed the announcement. */
const announceEveryMs = 60_000

const echoWithinMs = 2_000

const notifyAgainMs = 1_000

/** The payload of a NOTIFY is limited to 8,000 bytes. */
const workspacesInPayload = 200
const changesInPayload = 20

const inParts = <A>(all: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size)
  )
