import { NodeHttpServerRequest } from "@effect/platform-node"
import { Caller } from "@scheduling/domain/auth/Caller"
import { Clock, Context, Effect, Layer, type Scope, Semaphore } from "effect"
import { HttpServerRequest } from "effect/http"
import { Endings } from "../runner/Endings.ts"
import { Place } from "./Capacity.ts"
import { elapsedMs } from "./elapsed.ts"
import { expectSilence } from "./NodeServer.ts"
import { Stopping } from "./Stopping.ts"

/** How many requests may wait on this node; one more is answered at once. */
export interface WaitingLimits {
  readonly all: number
  /** Of one credential, and on one workspace. */
  readonly each: number
}

export const WaitingLimits = Context.Reference<WaitingLimits>(
  "@scheduling/server/platform/WaitingLimits",
  { defaultValue: () => ({ all: 2_000, each: 500 }) }
)

/** They may all be told at once, and requests that do not wait must not stand in line behind them. */
const readsAtOnce = 16

/**
 * Requests that wait until something has ended. They read when they come, when they are told and
 * when their time is up; in between they hold a connection and some memory and nothing else.
 */
export class Waiting extends Context.Service<
  Waiting,
  {
    /**
     * What `read` finds as soon as that has ended, or as it is after so many seconds. Sooner too:
     * where too many wait already, and when the process stops.
     */
    readonly untilEnded: <A extends { readonly finished_at: string | null }, E, R>(
      read: Effect.Effect<A, E, R>,
      wait: {
        readonly seconds: number | undefined
        readonly workspace_id: string
        readonly id: string
      }
    ) => Effect.Effect<A, E, R | Caller | HttpServerRequest.HttpServerRequest>
  }
>()("@scheduling/server/platform/Waiting") {
  static readonly layer: Layer.Layer<Waiting, never, Endings | Stopping> = Layer.effect(
    Waiting,
    Effect.gen(function* () {
      const endings = yield* Endings
      const stopping = yield* Stopping
      const clock = yield* Clock.Clock
      const takePlace = placesOf(yield* WaitingLimits)
      const reads = yield* Semaphore.make(readsAtOnce)

      const waitAndRead = Effect.fnUntraced(function* <
        A extends { readonly finished_at: string | null },
        E,
        R
      >(
        read: Effect.Effect<A, E, R>,
        wait: { readonly seconds: number; readonly workspace_id: string; readonly id: string }
      ) {
        const endsAt = elapsedMs(clock) + wait.seconds * 1_000
        // Before the first look: what ends after it is told.
        const { announce, bell } = yield* endings.watch([wait.id, wait.workspace_id])
        const seen = yield* read
        if (seen.finished_at !== null || !(yield* takePlace(yield* holdersOf(wait)))) return seen
        announce()
        return yield* idly(
          wait.seconds * 1_000,
          Effect.gen(function* () {
            let latest = seen
            for (;;) {
              const left = endsAt - elapsedMs(clock)
              // Timers count whole milliseconds, and may be up to one early.
              if (left < 1) return latest
              yield* Effect.raceFirst(bell.wait(left), stopping.begun)
              if (stopping.isStopping()) return latest
              latest = yield* reads.withPermit(read)
              if (latest.finished_at !== null) return latest
            }
          })
        )
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

const holdersOf = Effect.fnUntraced(function* ({
  workspace_id
}: {
  readonly workspace_id: string
}) {
  const caller = yield* Caller
  return [workspace_id, caller.kind === "jwt" ? caller.user_id : caller.api_key_id]
})

/** False: there is none, for one of the holders or for all. It is held until the scope closes. */
const placesOf = ({ all, each }: WaitingLimits) => {
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
  return (holders: ReadonlyArray<string>): Effect.Effect<boolean, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const isFree = total < all && holders.every((holder) => (held.get(holder) ?? 0) < each)
        if (isFree) change(holders, 1)
        return isFree
      }),
      (wasFree) => Effect.sync(() => wasFree && change(holders, -1))
    )
}

/** Not among the requests that are worked on, and on a connection that may be silent for so long. */
const idly = Effect.fnUntraced(function* <A, E, R>(ms: number, wait: Effect.Effect<A, E, R>) {
  const incoming = NodeHttpServerRequest.toIncomingMessage(
    yield* HttpServerRequest.HttpServerRequest
  )
  const place = Place.of(incoming)
  expectSilence(incoming, ms)
  const waited = yield* place === undefined ? wait : place.waiting(wait)
  expectSilence(incoming, 0)
  return waited
})
