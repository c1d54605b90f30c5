import { Unavailable } from "@scheduling/domain/shared/Errors"
import { Context, Effect } from "effect"
import { HttpServerResponse } from "effect/http"

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
 * everybody wait for half a minute, and 1,000 bodies took a gigabyte.
 */
export class Capacity {
  requests = 0
  bodyBytes = 0
  readonly limits: CapacityLimits

  constructor(limits: CapacityLimits) {
    this.limits = limits
  }

  readonly admit = <E, R>(
    work: (place: Place) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) =>
    Effect.suspend(() => {
      if (this.requests >= this.limits.requests) return busyAnswer
      const place = new Place(this)
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

  constructor(capacity: Capacity) {
    this.capacity = capacity
    capacity.requests++
  }

  give(request: object): void {
    ;(request as Placed)[place] = this
  }

  leave(): undefined {
    this.capacity.requests--
    this.capacity.bodyBytes -= this.counted
  }

  /**
   * Free while the client sends its body or waits for something to end, or a thousand of them would
   * keep everybody out.
   */
  waiting<A, E, R>(arrival: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.capacity.requests--
      return Effect.ensuring(
        arrival,
        Effect.sync(() => {
          this.capacity.requests++
        })
      )
    })
  }

  /** Counts what came of the body. */
  take(bytes: number): Effect.Effect<void> {
    const before = this.counted
    this.size += bytes
    this.capacity.bodyBytes += this.counted - before
    return this.capacity.bodyBytes > this.capacity.limits.bodyBytes
      ? Effect.die(busy())
      : Effect.void
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
