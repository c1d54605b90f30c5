import { Unavailable } from "@scheduling/domain/shared/Errors"
import { Context, Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import { respondWithError } from "../answers/Errors.ts"
import type { Client } from "./Clients.ts"
import { FairQueue, yieldToEventLoop } from "./FairQueue.ts"

/** The limits of a node for all requests together. */
export interface CapacityLimits {
  /** Maximum number of requests in progress. */
  readonly requests: number
  /**
   * The maximum number of bytes of request bodies in memory. The first `uncountedBodyBytes` of each body are
   * not counted.
   */
  readonly bodyBytes: number
}

export const CapacityLimits = Context.Reference<CapacityLimits>(
  "@scheduling/server/http/fairness/CapacityLimits",
  { defaultValue: () => ({ requests: 1_000, bodyBytes: 64 * 1024 * 1024 }) }
)

/**
 * Bodies up to this size are always read, so that a flood of large bodies cannot prevent people
 * from logging in.
 */
export const uncountedBodyBytes = 16 * 1024

/**
 * Rejects requests beyond the limits at almost no cost. Without limits, 50,000 requests in progress
 * would make every request wait for half a minute, and 1,000 bodies would take a gigabyte. An
 * individual client is rejected before the node is full, so that new clients still get a permit.
 */
export class Capacity {
  requests = 0
  bodyBytes = 0
  /**
   * Parses long bodies one at a time. Otherwise, a hundred bodies of 250 kB that arrive together
   * would be parsed in one go, and no other request would be served in the meantime.
   */
  readonly longBodies = new FairQueue<Client>({ atOnce: 1, pause: yieldToEventLoop })
  readonly limits: CapacityLimits

  constructor(limits: CapacityLimits) {
    this.limits = limits
  }

  readonly admit = <E, R>(
    client: Client,
    work: (permit: Permit) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) =>
    Effect.suspend(() => {
      if (!client.mayHold("requests", this.limits.requests - this.requests)) return busyResponse
      const permit = new Permit(this, client)
      return Effect.onExitPrimitive(work(permit), () => permit.leave())
    })
}

/**
 * The key of a property of the request. A property is used instead of a map, because a long-lived
 * map would move requests to the garbage collector's old generation.
 */
const permit = Symbol("the permit of a request")

interface Permitted {
  [permit]?: Permit
}

/** The permit of one request in progress. */
export class Permit {
  /** Returns the permit of a request, or undefined if the request needs none. */
  static of(request: object): Permit | undefined {
    return (request as Permitted)[permit]
  }

  private size = 0
  private readonly capacity: Capacity
  private readonly client: Client

  constructor(capacity: Capacity, client: Client) {
    this.capacity = capacity
    this.client = client.use()
    this.hold("requests", 1)
  }

  give(request: object): void {
    ;(request as Permitted)[permit] = this
  }

  leave(): undefined {
    this.hold("requests", -1)
    this.hold("bodyBytes", -this.counted)
    this.client.release()
  }

  /**
   * Releases the permit while the client sends its body or waits for a run. Otherwise a thousand
   * such clients would block all others.
   */
  waiting<A, E, R>(arrival: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.hold("requests", -1)
      return Effect.ensuring(
        arrival,
        Effect.sync(() => {
          this.hold("requests", 1)
        })
      )
    })
  }

  /** Receives a long body, and parses it when its turn among the long bodies comes. */
  longBody<A, B, E, R>(
    arrival: Effect.Effect<A, E, R>,
    read: (body: A) => Effect.Effect<B, E, R>
  ): Effect.Effect<B, E, R> {
    const { capacity, client } = this
    return Effect.flatMap(this.waiting(client.uploads.run(client, arrival)), (body) =>
      capacity.longBodies.run(client, read(body))
    )
  }

  /** Counts the bytes of the body as they arrive. */
  take(bytes: number): Effect.Effect<void> {
    const before = this.counted
    this.size += bytes
    this.hold("bodyBytes", this.counted - before)
    const { bodyBytes, limits } = this.capacity
    return this.counted === 0 || this.client.mayHold("bodyBytes", limits.bodyBytes - bodyBytes)
      ? Effect.void
      : Effect.die(busyError)
  }

  private hold(what: "requests" | "bodyBytes", amount: number): void {
    if (amount === 0) return
    this.capacity[what] += amount
    this.client.hold(what, amount)
  }

  private get counted(): number {
    return Math.max(0, this.size - uncountedBodyBytes)
  }
}

/** The error of a busy node. It is built once, because it is sent while the node is busy. */
const busyError = new Unavailable({
  retry_after: 1,
  message: "The service is busy. Send the request again in a moment."
})

const busyResponse = respondWithError(busyError)
