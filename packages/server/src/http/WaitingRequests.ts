import { NodeHttpServerRequest } from "@effect/platform-node"
import { Principal, principalId } from "@scheduling/domain/auth/Principal"
import { Clock, Context, Effect, Layer, type Scope, Semaphore } from "effect"
import { HttpServerRequest } from "effect/http"
import { EndSignals } from "../events/index.ts"
import { AccountShares, changeHeld } from "./fairness/AccountShares.ts"
import { Permit } from "./fairness/Capacity.ts"
import { elapsedMs } from "../core/index.ts"
import { allowSilence } from "./server/NodeServer.ts"
import { Shutdown } from "./Shutdown.ts"

/**
 * The limits of requests that wait on this node. A request beyond a limit gets its response
 * immediately.
 */
export interface WaitingLimits {
  /**
   * The number of waiting requests of all accounts together. `AccountShares` limits each account.
   */
  readonly all: number
  /** The number of waiting requests per principal and per workspace. */
  readonly each: number
}

export const WaitingLimits = Context.Reference<WaitingLimits>(
  "@scheduling/server/http/WaitingLimits",
  { defaultValue: () => ({ all: 2_000, each: 500 }) }
)

interface Wait<E> {
  readonly workspace_id: string
  /** The id of the execution or the chain run. */
  readonly id: string
  readonly decideAgain: Effect.Effect<Effect.Effect<void, E>>
}

/**
 * The maximum number of concurrent reads. All waiting requests may wake at the same time, and their
 * reads must not delay other requests.
 */
const maxConcurrentReads = 16

/**
 * Requests that wait until an execution finishes. A request reads the execution when it arrives,
 * when it is notified, and when its timeout expires. Between reads it holds only a connection and
 * little memory.
 */
export class WaitingRequests extends Context.Service<
  WaitingRequests,
  {
    /**
     * Returns the record from `read` as soon as it has finished, or its state after `seconds`.
     * Returns earlier if too many requests are waiting or the process is stopping. After a wait,
     * `decideAgain` checks whether the request may still see the result.
     */
    readonly untilFinished: <A extends { readonly finished_at: string | null }, E, R, E2>(
      read: Effect.Effect<A, E, R>,
      wait: Wait<E2> & { readonly seconds: number | undefined }
    ) => Effect.Effect<A, E | E2, R | Principal | HttpServerRequest.HttpServerRequest>
  }
>()("@scheduling/server/http/WaitingRequests") {
  static readonly layer: Layer.Layer<WaitingRequests, never, EndSignals | Shutdown> = Layer.effect(
    WaitingRequests,
    Effect.gen(function* () {
      const endSignals = yield* EndSignals
      const stopping = yield* Shutdown
      const clock = yield* Clock.Clock
      const permits = makeWaitPermits(yield* WaitingLimits)
      const reads = yield* Semaphore.make(maxConcurrentReads)

      const waitAndRead = Effect.fnUntraced(function* <
        A extends { readonly finished_at: string | null },
        E,
        R,
        E2
      >(read: Effect.Effect<A, E, R>, wait: Wait<E2> & { readonly seconds: number }) {
        const endsAt = elapsedMs(clock) + wait.seconds * 1_000
        // The watch starts before the first read, so that no end signal is missed.
        const { announce, waker } = yield* endSignals.watch([wait.id, wait.workspace_id])
        const seen = yield* read
        if (
          seen.finished_at !== null ||
          !(yield* permits.take(waitPermitHolderOf(yield* Principal, wait.workspace_id)))
        ) {
          return seen
        }
        announce()
        const waited = waitWithoutPermit(
          wait.seconds * 1_000,
          Effect.gen(function* () {
            let latest = seen
            for (;;) {
              const left = endsAt - elapsedMs(clock)
              // Timers count from the start of the current event loop iteration, so they fire a few
              // milliseconds early.
              if (left < 10) return latest
              yield* Effect.raceFirst(waker.wait(left), stopping.begun)
              if (stopping.isStopping()) return latest
              latest = yield* reads.withPermit(read)
              if (latest.finished_at !== null) return latest
            }
          })
        )
        return yield* Effect.tap(waited, () => Effect.flatten(wait.decideAgain))
      })

      return WaitingRequests.of({
        untilFinished: (read, { seconds, ...wait }) =>
          seconds === undefined || seconds === 0
            ? read
            : Effect.scoped(waitAndRead(read, { ...wait, seconds }))
      })
    })
  )
}

/** A waiting principal and its workspace. */
export interface WaitPermitHolder {
  /** The lane of the account, by which accounts get fair shares. */
  readonly lane: bigint
  /** The ids of the principal and the workspace. */
  readonly ids: ReadonlyArray<string>
}

/** Returns the principal and the workspace that hold the permit of a request to wait. */
export const waitPermitHolderOf = (
  principal: Principal["Service"],
  workspaceId: string
): WaitPermitHolder => ({
  lane: principal.lane,
  ids: [workspaceId, principalId(principal)]
})

/** Creates the permits to wait. A principal, a workspace and an account each have a limit. */
export const makeWaitPermits = ({ all, each }: WaitingLimits) => {
  const held = new Map<string, number>()
  const shares = new AccountShares(all)
  const change = ({ ids, lane }: WaitPermitHolder, by: 1 | -1) => {
    shares.change(lane, by)
    for (const id of ids) changeHeld(held, id, by)
  }
  const reachedLimit = ({
    ids,
    lane
  }: WaitPermitHolder): "node" | "account" | "each" | undefined => {
    if (shares.free <= 0) return "node"
    if (ids.some((id) => (held.get(id) ?? 0) >= each)) return "each"
    return shares.mayHold(lane) ? undefined : "account"
  }
  return {
    /** Returns the limit that is reached, if any. */
    reachedLimit,
    count: () => shares.held,
    /** Takes a permit until the scope closes. Returns false if none is left. */
    take: (holder: WaitPermitHolder): Effect.Effect<boolean, never, Scope.Scope> =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const isFree = reachedLimit(holder) === undefined
          if (isFree) change(holder, 1)
          return isFree
        }),
        (wasFree) => Effect.sync(() => wasFree && change(holder, -1))
      )
  }
}

/**
 * Waits without holding the permit of a request in progress. The connection may be silent during
 * the wait.
 */
export const waitWithoutPermit = Effect.fnUntraced(function* <A, E, R>(
  ms: number,
  wait: Effect.Effect<A, E, R>
) {
  const incoming = NodeHttpServerRequest.toIncomingMessage(
    yield* HttpServerRequest.HttpServerRequest
  )
  const permit = Permit.of(incoming)
  allowSilence(incoming, ms)
  const waited = yield* permit === undefined ? wait : permit.waiting(wait)
  allowSilence(incoming, 0)
  return waited
})
