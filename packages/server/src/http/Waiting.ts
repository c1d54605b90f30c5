import { NodeHttpServerRequest } from "@effect/platform-node"
import { Principal, principalId } from "@scheduling/domain/auth/Principal"
import { Clock, Context, Effect, Layer, type Scope, Semaphore } from "effect"
import { HttpServerRequest } from "effect/http"
import { Endings } from "../signals/Endings.ts"
import { Place } from "../fairness/Capacity.ts"
import { elapsedMs } from "../platform/elapsed.ts"
import { expectSilence } from "./server/NodeServer.ts"
import { Stopping } from "./Stopping.ts"

/** How many requests may wait on this node. A request over the limit is answered at once. */
export interface WaitingLimits {
  readonly all: number
  /** Per principal and per workspace. */
  readonly each: number
}

export const WaitingLimits = Context.Reference<WaitingLimits>(
  "@scheduling/server/http/WaitingLimits",
  { defaultValue: () => ({ all: 2_000, each: 500 }) }
)

interface Wait<E> {
  readonly workspace_id: string
  /** Of the execution or the run of a chain. */
  readonly id: string
  readonly decideAgain: Effect.Effect<Effect.Effect<void, E>>
}

/**
 * All waiting requests may be woken at once, and other requests must not queue behind their reads.
 */
const readsAtOnce = 16

/**
 * Requests that wait until an execution has ended. They read when they arrive, when they are told
 * and when their time is up. In between they hold only a connection and some memory.
 */
export class Waiting extends Context.Service<
  Waiting,
  {
    /**
     * Returns what `read` finds as soon as it has ended, or its state after `seconds`. It returns
     * sooner if too many requests already wait or the process stops. After a wait `decideAgain`
     * says whether the request may still have the result.
     */
    readonly untilEnded: <A extends { readonly finished_at: string | null }, E, R, E2>(
      read: Effect.Effect<A, E, R>,
      wait: Wait<E2> & { readonly seconds: number | undefined }
    ) => Effect.Effect<A, E | E2, R | Principal | HttpServerRequest.HttpServerRequest>
  }
>()("@scheduling/server/http/Waiting") {
  static readonly layer: Layer.Layer<Waiting, never, Endings | Stopping> = Layer.effect(
    Waiting,
    Effect.gen(function* () {
      const endings = yield* Endings
      const stopping = yield* Stopping
      const clock = yield* Clock.Clock
      const places = placesOf(yield* WaitingLimits)
      const reads = yield* Semaphore.make(readsAtOnce)

      const waitAndRead = Effect.fnUntraced(function* <
        A extends { readonly finished_at: string | null },
        E,
        R,
        E2
      >(read: Effect.Effect<A, E, R>, wait: Wait<E2> & { readonly seconds: number }) {
        const endsAt = elapsedMs(clock) + wait.seconds * 1_000
        // The watch starts before the first read, so that every later ending is told.
        const { announce, bell } = yield* endings.watch([wait.id, wait.workspace_id])
        const seen = yield* read
        if (seen.finished_at !== null || !(yield* places.take(yield* holdersOf(wait)))) return seen
        announce()
        const waited = idly(
          wait.seconds * 1_000,
          Effect.gen(function* () {
            let latest = seen
            for (;;) {
              const left = endsAt - elapsedMs(clock)
              // Timers count from the beginning of the loop's turn, so they fire some milliseconds early.
              if (left < 10) return latest
              yield* Effect.raceFirst(bell.wait(left), stopping.begun)
              if (stopping.isStopping()) return latest
              latest = yield* reads.withPermit(read)
              if (latest.finished_at !== null) return latest
            }
          })
        )
        return yield* Effect.tap(waited, () => Effect.flatten(wait.decideAgain))
      })

      return Waiting.of({
        untilEnded: (read, { seconds, ...wait }) =>
          seconds === undefined || seconds === 0
            ? read
            : Effect.scoped(waitAndRead(read, { ...wait, seconds }))
      })
    })
  )
}

// ---------------------------------------------------------------------------

const holdersOf = ({ workspace_id }: { readonly workspace_id: string }) =>
  Effect.map(Principal, (principal) => [workspace_id, principalId(principal)])

/** Places for those who wait. A holder may have some of them. */
export const placesOf = ({ all, each }: WaitingLimits) => {
  const held = new Map<string, number>()
  let total = 0
  const change = (holders: ReadonlyArray<string>, by: 1 | -1) => {
    total += by
    for (const holder of holders) {
      const count = (held.get(holder) ?? 0) + by
      if (count === 0) held.delete(holder)
      else held.set(holder, count)
    }
  }
  const hasRoom = (holders: ReadonlyArray<string>): boolean =>
    total < all && holders.every((holder) => (held.get(holder) ?? 0) < each)
  return {
    hasRoom,
    count: () => total,
    /** Takes a place until the scope closes. Returns false if a holder or the node has none left. */
    take: (holders: ReadonlyArray<string>): Effect.Effect<boolean, never, Scope.Scope> =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const isFree = hasRoom(holders)
          if (isFree) change(holders, 1)
          return isFree
        }),
        (wasFree) => Effect.sync(() => wasFree && change(holders, -1))
      )
  }
}

/**
 * Waits without counting as a request being processed, on a connection that may stay silent
 * meanwhile.
 */
export const idly = Effect.fnUntraced(function* <A, E, R>(
  ms: number,
  wait: Effect.Effect<A, E, R>
) {
  const incoming = NodeHttpServerRequest.toIncomingMessage(
    yield* HttpServerRequest.HttpServerRequest
  )
  const place = Place.of(incoming)
  expectSilence(incoming, ms)
  const waited = yield* place === undefined ? wait : place.waiting(wait)
  expectSilence(incoming, 0)
  return waited
})
