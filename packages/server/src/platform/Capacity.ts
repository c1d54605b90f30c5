import { Unavailable } from "@scheduling/domain/shared/Errors"
import { Context, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Client } from "./Clients.ts"
import { FairGate } from "./FairGate.ts"

/** What all requests together may take of a node. */
export interface CapacityLimits {
  /** Being worked on at once. */
  readonly requests: number
  /** In memory of their bodies, beyond the first bytes of each. */
  readonly bodyBytes: number
}

export const CapacityLimits = Context.Reference<CapacityLimits>(
  "@scheduling/server/platform/CapacityLimits",
  { defaultValue: () => ({ requests: 1_000, bodyBytes: 64 * 1024 * 1024 }) }
)

/** So few bytes of a body are always read: a flood of large ones must not keep people from logging in. */
export const freeBytes = 16 * 1024

/**
 * Turns away what is too much, at next to no cost: worked on all at once, 50,000 requests made
 * everybody wait for half a minute, and 1,000 bodies took a gigabyte. What is too much for one client
 * is less than what is for all, so that whoever comes next finds a place.
 */
export class Capacity {
  requests = 0
  bodyBytes = 0
  readonly longBodies = new FairGate<Client>(1)
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

/** Not a map of requests: one that lives long would keep them from dying young. */
const place = Symbol("the place of a request")

interface Placed {
  [place]?: Place
}

/** Of one request among those that are worked on. */
export class Place {
  /** None where the request needs no place. */
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
   * Free while the client sends its body or waits for something to end, or a thousand of them would
   * keep everybody out.
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

  /** For receiving a body that is long, and then for reading it. */
  longBody<A, B, E, R>(
    arrival: Effect.Effect<A, E, R>,
    read: (body: A) => Effect.Effect<B, E, R>
  ): Effect.Effect<B, E, R> {
    const { capacity, client } = this
    return Effect.flatMap(this.waiting(client.uploads.pass(client, arrival)), (body) =>
      capacity.longBodies.pass(client, read(body))
    )
  }

  /** Counts what came of the body. */
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

/** Made once: it is given when there is no time for anything. */
const busyAnswer = ((error) =>
  Effect.succeed(
    HttpServerResponse.jsonUnsafe(
      { detail: error.detail },
      { status: Unavailable.status, headers: error.headers }
    )
  ))(busy())
