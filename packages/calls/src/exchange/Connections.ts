import { Effect } from "effect"
import type { Exchange } from "./Exchange.ts"
import type { OutgoingRequest } from "../OutgoingRequest.ts"
import type { Timeouts } from "../Timeouts.ts"

/** A connection with one exchange at a time. It connects at the latest when the first one begins. */
export interface OpenConnection {
  /** Called once, when the connection ends while it is idle. */
  onIdleEnd: () => void
  /** Connects ahead of the first exchange. */
  readonly open: () => void
  readonly send: (request: OutgoingRequest, exchange: Exchange) => void
  readonly close: () => void
}

/** Makes a connection to an origin. */
export type Open = (origin: string) => OpenConnection

export interface ConnectionLimits {
  /** Further calls to the origin wait until one of these ends. Their timeouts begin after that. */
  readonly perOrigin: number
  /** Idle connections kept over all origins. */
  readonly idle: number
}

/** Calls of one moment and of its neighbours need connections of their own. */
const momentMs = 5

interface Origin {
  /** How many more calls may run. */
  places: number
  /** Calls that wait for a place, by workspace. The workspace whose turn is next comes first. */
  readonly waiting: Map<string, Set<() => void>>
  /** The one used last is taken first, so that the others can reach their idle timeout. */
  readonly idle: Array<OpenConnection>
  /** How many calls will begin, by moment. */
  readonly expected: Map<number, number>
  /** Calls that are expected, wait or run. */
  calls: number
  isStartingCalls: boolean
}

/**
 * Keep-alive connections by origin. A call that waits for one can be taken back at any time.
 */
export class Connections {
  private readonly origins = new Map<string, Origin>()
  private idle = 0
  private readonly openTo: Open
  private readonly limits: ConnectionLimits
  private readonly timeouts: Timeouts

  constructor(openTo: Open, limits: ConnectionLimits, timeouts: Timeouts) {
    this.openTo = openTo
    this.limits = limits
    this.timeouts = timeouts
  }

  /**
   * Fills the exchange and tells once whether the time ran out first. Returns how to cut it off,
   * which closes the connection at once, whatever it is doing. After that nothing is told.
   */
  begin(
    request: OutgoingRequest,
    exchange: Exchange,
    timeoutMillis: number,
    onEnd: (timedOut: boolean) => void
  ): () => void {
    const origin = this.enter(request.origin)
    let stopTimer: (() => void) | undefined
    let connection: OpenConnection | undefined
    let hasLeft = false

    const send = (taken: OpenConnection, settle: (reusable: boolean) => void) => {
      connection = taken
      exchange.begin(settle)
      taken.send(request, exchange)
    }
    const start = () => {
      stopTimer = this.timeouts.after(timeoutMillis, () => {
        // This comes before the connection closes: the close would be taken for the call's outcome.
        onEnd(true)
        leave(false)
      })
      const kept = this.takeIdle(origin)
      if (kept === undefined) send(this.open(request.origin, origin), end)
      else send(kept, endOrSendAgain)
    }
    // The server may have closed a kept connection while the request was on its way. Like Go's
    // client, we then send the request once more on a new connection; the Idempotency-Key makes
    // that safe. Otherwise a task without retries would fail for a reason that is not its
    // receiver's fault.
    const endOrSendAgain = (reusable: boolean) => {
      // We closed the connection ourselves.
      if (hasLeft) return
      if (exchange.error === null || exchange.phase !== "waiting for the answer") {
        return end(reusable)
      }
      connection?.close()
      send(this.open(request.origin, origin), end)
    }
    const leave = (reusable: boolean) => {
      if (hasLeft) return
      hasLeft = true
      stopTimer?.()
      if (connection === undefined) waitNoMore(origin, request.workspace_id, start)
      else {
        origin.places++
        if (reusable) this.keep(origin, connection)
        else connection.close()
      }
      this.leave(request.origin, origin)
    }
    const end = (reusable: boolean) => {
      if (hasLeft) return
      leave(reusable)
      onEnd(false)
    }

    wait(origin, request.workspace_id, start)
    startCalls(origin)
    return () => leave(false)
  }

  /**
   * A call to the origin will begin at that time. A connection is opened for it unless enough are
   * idle for all calls around that time. Returns how to say that it begins now, or never will.
   */
  expect(name: string, atMs: number): () => void {
    const origin = this.enter(name)
    const moment = Math.round(atMs / momentMs)
    const expectedAt = (at: number) => origin.expected.get(at) ?? 0
    origin.expected.set(moment, expectedAt(moment) + 1)
    const expected = expectedAt(moment - 1) + expectedAt(moment) + expectedAt(moment + 1)
    const wanted = Math.min(expected, origin.places)
    if (origin.idle.length < wanted && this.idle < this.limits.idle) {
      const connection = this.open(name, origin)
      // Those that are open already are taken before it.
      origin.idle.unshift(connection)
      this.idle++
      connection.open()
    }
    let isExpected = true
    return () => {
      if (!isExpected) return
      isExpected = false
      const left = expectedAt(moment) - 1
      if (left === 0) origin.expected.delete(moment)
      else origin.expected.set(moment, left)
      this.leave(name, origin)
    }
  }

  readonly closeIdle = Effect.sync(() => {
    for (const origin of this.origins.values()) {
      for (const connection of origin.idle.splice(0)) connection.close()
    }
    this.idle = 0
  })

  private enter(name: string): Origin {
    let origin = this.origins.get(name)
    if (origin === undefined) {
      origin = {
        places: this.limits.perOrigin,
        waiting: new Map(),
        idle: [],
        expected: new Map(),
        calls: 0,
        isStartingCalls: false
      }
      this.origins.set(name, origin)
    }
    origin.calls++
    return origin
  }

  private leave(name: string, origin: Origin): void {
    origin.calls--
    startCalls(origin)
    this.forgetUnused(name, origin)
  }

  private forgetUnused(name: string, origin: Origin): void {
    if (origin.calls === 0 && origin.idle.length === 0) this.origins.delete(name)
  }

  private open(name: string, origin: Origin): OpenConnection {
    const connection = this.openTo(name)
    connection.onIdleEnd = () => {
      const index = origin.idle.indexOf(connection)
      if (index === -1) return
      origin.idle.splice(index, 1)
      this.idle--
      this.forgetUnused(name, origin)
    }
    return connection
  }

  private takeIdle(origin: Origin): OpenConnection | undefined {
    const connection = origin.idle.pop()
    if (connection !== undefined) this.idle--
    return connection
  }

  private keep(origin: Origin, connection: OpenConnection): void {
    if (this.idle >= this.limits.idle) {
      connection.close()
      return
    }
    origin.idle.push(connection)
    this.idle++
  }
}

const wait = (origin: Origin, workspace: string, start: () => void): void => {
  const queue = origin.waiting.get(workspace)
  if (queue === undefined) origin.waiting.set(workspace, new Set([start]))
  else queue.add(start)
}

const waitNoMore = (origin: Origin, workspace: string, start: () => void): void => {
  const queue = origin.waiting.get(workspace)
  if (queue?.delete(start) === true && queue.size === 0) origin.waiting.delete(workspace)
}

/**
 * A loop instead of recursion: when a call ends at once, its place goes to the next, thousands
 * deep.
 */
const startCalls = (origin: Origin): void => {
  if (origin.isStartingCalls) return
  origin.isStartingCalls = true
  try {
    while (origin.places > 0) {
      const [first] = origin.waiting
      if (first === undefined) return
      const [workspace, queue] = first
      // The workspace has had its turn and goes to the end.
      origin.waiting.delete(workspace)
      const [start] = queue
      if (start === undefined) continue
      queue.delete(start)
      if (queue.size > 0) origin.waiting.set(workspace, queue)
      origin.places--
      start()
    }
  } finally {
    origin.isStartingCalls = false
  }
}
