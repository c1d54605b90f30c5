import { Effect } from "effect"
import type { Exchange } from "./Exchange.ts"
import type { OutgoingRequest } from "../OutgoingRequest.ts"
import type { Timeouts } from "../Timeouts.ts"

/**
 * A connection with one exchange at a time. It connects when the first exchange begins, or earlier.
 */
export interface ReusableConnection {
  /** Called once when the connection closes while it is idle. */
  onIdleEnd: () => void
  /** Connects before the first exchange. */
  readonly open: () => void
  readonly send: (request: OutgoingRequest, exchange: Exchange) => void
  readonly close: () => void
}

/** Creates a connection to an origin. */
export type CreateConnection = (origin: string) => ReusableConnection

/** The limits of the connections. `CallConnectionLimits` provides them. */
export interface ConnectionLimits {
  /**
   * Maximum number of concurrent calls per origin. Other calls wait, and their timeouts start after
   * the wait.
   */
  readonly perOrigin: number
  /** Maximum number of idle connections to all origins together. */
  readonly idle: number
}

/**
 * Length of a period in ms. Calls that begin in the same period or in neighbouring periods cannot
 * share a connection.
 */
const periodMs = 5

interface Origin {
  /** The number of further calls that may begin. */
  permits: number
  /** Calls waiting for a permit, by workspace. The workspace whose turn is next comes first. */
  readonly waiting: Map<string, Set<() => void>>
  /**
   * The idle connections. The most recently used connection is taken first, so that the others can
   * reach their idle timeout.
   */
  readonly idle: Array<ReusableConnection>
  /** The number of expected calls by period. */
  readonly expected: Map<number, number>
  /** The number of calls that are expected, waiting or in progress. */
  calls: number
  isStartingCalls: boolean
}

/**
 * Keep-alive connections by origin. A call that waits for a connection can be aborted at any time.
 */
export class Connections {
  private readonly origins = new Map<string, Origin>()
  private idle = 0
  private readonly openTo: CreateConnection
  private readonly limits: ConnectionLimits
  private readonly timeouts: Timeouts

  constructor(openTo: CreateConnection, limits: ConnectionLimits, timeouts: Timeouts) {
    this.openTo = openTo
    this.limits = limits
    this.timeouts = timeouts
  }

  /**
   * Sends the request and fills the exchange. `onEnd` is called once, with true if the call timed
   * out. Returns a function that aborts the call: it closes the connection immediately, and `onEnd`
   * is not called.
   */
  begin(
    request: OutgoingRequest,
    exchange: Exchange,
    timeoutMillis: number,
    onEnd: (timedOut: boolean) => void
  ): () => void {
    const origin = this.enter(request.origin)
    let stopTimer: (() => void) | undefined
    let connection: ReusableConnection | undefined
    let hasLeft = false

    const send = (taken: ReusableConnection, settle: (reusable: boolean) => void) => {
      connection = taken
      exchange.begin(settle)
      taken.send(request, exchange)
    }
    const start = () => {
      stopTimer = this.timeouts.after(timeoutMillis, () => {
        // The timeout is reported before the connection closes, because the close would be reported
        // as the call's result.
        onEnd(true)
        leave(false)
      })
      const kept = this.takeIdle(origin)
      if (kept === undefined) send(this.open(request.origin, origin), end)
      else send(kept, endOrRetry)
    }
    // The server may close a kept connection while the request is in flight. Like Go's client, the
    // service then retries the request once on a new connection; the Idempotency-Key makes that
    // safe. Otherwise a task without retries would fail although its target works.
    const endOrRetry = (reusable: boolean) => {
      // The call was aborted, which closed the connection.
      if (hasLeft) return
      if (exchange.error === null || exchange.phase !== "waiting for the response") {
        return end(reusable)
      }
      connection?.close()
      send(this.open(request.origin, origin), end)
    }
    const leave = (reusable: boolean) => {
      if (hasLeft) return
      hasLeft = true
      stopTimer?.()
      if (connection === undefined) stopWaiting(origin, request.workspace_id, start)
      else {
        origin.permits++
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
   * Announces a call to the origin at a given time. Opens a connection for the call, unless there
   * are enough idle connections for all calls around that time. Returns a function to call when the
   * call begins or is abandoned.
   */
  expect(name: string, atMs: number): () => void {
    const origin = this.enter(name)
    const moment = Math.round(atMs / periodMs)
    const expectedAt = (at: number) => origin.expected.get(at) ?? 0
    origin.expected.set(moment, expectedAt(moment) + 1)
    const expected = expectedAt(moment - 1) + expectedAt(moment) + expectedAt(moment + 1)
    const wanted = Math.min(expected, origin.permits)
    if (origin.idle.length < wanted && this.idle < this.limits.idle) {
      const connection = this.open(name, origin)
      // Connections that are already open are taken first.
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
        permits: this.limits.perOrigin,
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

  private open(name: string, origin: Origin): ReusableConnection {
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

  private takeIdle(origin: Origin): ReusableConnection | undefined {
    const connection = origin.idle.pop()
    if (connection !== undefined) this.idle--
    return connection
  }

  private keep(origin: Origin, connection: ReusableConnection): void {
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

const stopWaiting = (origin: Origin, workspace: string, start: () => void): void => {
  const queue = origin.waiting.get(workspace)
  if (queue?.delete(start) === true && queue.size === 0) origin.waiting.delete(workspace)
}

/**
 * Starts waiting calls while there are permits. It is a loop, because recursion would go thousands
 * of levels deep for calls that end immediately.
 */
const startCalls = (origin: Origin): void => {
  if (origin.isStartingCalls) return
  origin.isStartingCalls = true
  try {
    while (origin.permits > 0) {
      const [first] = origin.waiting
      if (first === undefined) return
      const [workspace, queue] = first
      // The workspace has had its turn and moves to the end.
      origin.waiting.delete(workspace)
      const [start] = queue
      if (start === undefined) continue
      queue.delete(start)
      if (queue.size > 0) origin.waiting.set(workspace, queue)
      origin.permits--
      start()
    }
  } finally {
    origin.isStartingCalls = false
  }
}
