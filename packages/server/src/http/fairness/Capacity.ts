import { Unavailable } from "@scheduling/domain/shared/Errors"
import { Context, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Client } from "./Clients.ts"
import { afterEverythingElse, FairQueue } from "./FairQueue.ts"

/** The most that all requests together may take of a node. */
export interface CapacityLimits {
  /** Requests being processed at once. */
  readonly requests: number
  /** Bytes of request bodies in memory, not counting the first `freeBytes` of each. */
  readonly bodyBytes: number
}

export const CapacityLimits = Context.Reference<CapacityLimits>(
  "@scheduling/server/http/fairness/CapacityLimits",
  { defaultValue: () => ({ requests: 1_000, bodyBytes: 64 * 1024 * 1024 }) }
)

/**
 * Bodies up to this size are always read, so that a flood of large ones cannot keep people from
 * logging in.
 */
export const freeBytes = 16 * 1024

/**
 * Turns away requests over the limits at almost no cost. When 50,000 requests were processed all at
 * once, everybody waited for half a minute, and 1,000 bodies took a gigabyte. A single client is
 * turned away before the node is full, so that newcomers still find a place.
 */
export class Capacity {
  requests = 0
  bodyBytes = 0
  /**
   * Without turns, a hundred bodies of 250 kB that arrive together are read in one go, and nobody
   * else is served meanwhile.
   */
  readonly longBodies = new FairQueue<Client>({ atOnce: 1, pause: afterEverythingElse })
  readonly limits: CapacityLimits

  constructor(limits: CapacityLimits) {
    this.limits = limits
  }

  readonly admit = <E, R>(
    client: Client,
    work: (place: Place) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) =>
    Effect.suspend(() => {
      if (!client.mayHold("requests", this.limits.requests - this.requests)) return busyAnswer
      const place = new Place(this, client)
      return Effect.onExitPrimitive(work(place), () => place.leave())
    })
}

/** A property on the request, not a map: a long-lived map would stop requests from dying young. */
const place = Symbol("the place of a request")

interface Placed {
  [place]?: Place
}

/** The place of one request among those being processed. */
export class Place {
  /** Undefined if the request needs no place. */
  static of(request: object): Place | undefined {
    return (request as Placed)[place]
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
    ;(request as Placed)[place] = this
  }

  leave(): undefined {
    this.hold("requests", -1)
    this.hold("bodyBytes", -this.counted)
    this.client.release()
  }

  /**
   * Frees the place while the client sends its body or waits for a run to end. Otherwise a thousand
   * such clients would keep everybody out.
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

  /** Receives a long body and then reads it, each in turn with others. */
  longBody<A, B, E, R>(
    arrival: Effect.Effect<A, E, R>,
    read: (body: A) => Effect.Effect<B, E, R>
  ): Effect.Effect<B, E, R> {
    const { capacity, client } = this
    return Effect.flatMap(this.waiting(client.uploads.run(client, arrival)), (body) =>
      capacity.longBodies.run(client, read(body))
    )
  }

  /** Counts bytes of the body as they arrive. */
  take(bytes: number): Effect.Effect<void> {
    const before = this.counted
    this.size += bytes
    this.hold("bodyBytes", this.counted - before)
    const { bodyBytes, limits } = this.capacity
    return this.counted === 0 || this.client.mayHold("bodyBytes", limits.bodyBytes - bodyBytes)
      ? Effect.void
      : Effect.die(busy())
  }

  private hold(what: "requests" | "bodyBytes", amount: number): void {
    if (amount === 0) return
    this.capacity[what] += amount
    this.client.hold(what, amount)
  }

  private get counted(): number {
    return Math.max(0, this.size - freeBytes)
  }
}

const busy = () =>
  new Unavailable({ retry_after: 1, message: "The service is busy; try again in a moment." })

/** Built once, because it is sent when there is no time for anything else. */
const busyAnswer = ((error) =>
  Effect.succeed(
    HttpServerResponse.jsonUnsafe(
      { detail: error.detail },
      { status: Unavailable.status, headers: error.headers }
    )
  ))(busy())
