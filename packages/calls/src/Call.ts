import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { Clock, Context, Effect, Exit, Layer, Result, type Scope } from "effect"
import type { CallRequest } from "./CallRequest.ts"
import type { Answer, CallResult } from "./CallResult.ts"
import { Connection } from "./exchange/Connection.ts"
import { type ConnectionLimits, Connections, type Open } from "./exchange/Connections.ts"
import { EgressAllow, type EgressRules, makeConnect, Resolver } from "./egress/Egress.ts"
import { parseCidrs } from "./egress/EgressRules.ts"
import { Exchange } from "./exchange/Exchange.ts"
import { judgeExchange, refused } from "./judgeExchange.ts"
import { OwnEcho } from "./exchange/OwnEcho.ts"
import { makeRequest } from "./OutgoingRequest.ts"
import { Timeouts } from "./Timeouts.ts"

export const ConnectionsLimits = Context.Reference<ConnectionLimits>(
  "@scheduling/calls/ConnectionsLimits",
  { defaultValue: () => ({ perOrigin: 512, idle: 4_096 }) }
)

/**
 * Makes the connections that need TLS. Without it they are made here, as all others are, and each
 * handshake keeps this thread for a millisecond.
 */
export const SecureConnections = Context.Reference<
  ((rules: EgressRules) => Effect.Effect<Open, never, Scope.Scope>) | undefined
>("@scheduling/calls/SecureConnections", { defaultValue: () => undefined })

type OnEnd = (end: Exit.Exit<CallResult>) => void

/** When a call that is made ready begins. */
export interface DueTime {
  /**
   * On whatever clock decides it. It is the same for all calls of one moment, however long it takes
   * to make them ready one after another.
   */
  readonly atMs: number
  readonly inMillis: number
}

/** A call that is about to begin. */
export interface ReadyCall {
  /** See `Call.begin`. */
  readonly begin: (onEnd: OnEnd) => () => void
  /** It will not begin. */
  readonly drop: () => void
}

/** The outgoing HTTP call that the service makes for its users. Every outcome is a value. */
export class Call extends Context.Service<
  Call,
  {
    readonly run: (request: CallRequest) => Effect.Effect<CallResult>
    /**
     * The same without a fiber, which takes a twentieth of a run. Tells once how the call ended and
     * returns how to cut it off: then it tells that the call was interrupted.
     */
    readonly begin: (request: CallRequest, onEnd: OnEnd) => () => void
    /**
     * Does what can be done ahead of a call that begins later: signs it, and opens a connection for
     * it if `connects`. Otherwise, thousands of calls at one instant would wait for that work to be
     * done for all of them.
     */
    readonly makeReady: (request: CallRequest, due: DueTime, connects: boolean) => ReadyCall
  }
>()("@scheduling/calls/Call") {
  static readonly layer: Layer.Layer<Call> = Layer.effect(
    Call,
    Effect.gen(function* () {
      const allow = yield* EgressAllow
      const resolve = yield* Resolver
      const limits = yield* ConnectionsLimits
      const clock = yield* Clock.Clock
      const timeouts = yield* Timeouts.make
      const openHere = opener({ allow, resolve })
      const makeSecure = yield* SecureConnections
      const openSecure = makeSecure === undefined ? openHere : yield* makeSecure({ allow, resolve })
      const connections = new Connections(
        (origin) => (origin.startsWith("https:") ? openSecure(origin) : openHere(origin)),
        limits,
        timeouts
      )
      yield* Effect.addFinalizer(() => connections.closeIdle)
      const ownEcho = yield* OwnEcho
      // These are kept apart: on a shared connection, a call to any other path would get through
      // too.
      const toOwnEcho = new Connections(opener({ allow: ownAddress, resolve }), limits, timeouts)
      yield* Effect.addFinalizer(() => toOwnEcho.closeIdle)

      const wayTo = (origin: string, path: string) =>
        origin + path === ownEcho ? toOwnEcho : connections

      const begin = (
        request: CallRequest,
        make: () => ReturnType<typeof makeRequest>,
        onEnd: OnEnd
      ) => {
        const started = clock.monotonicTimeNanosUnsafe()
        let cutOff = () => {}
        let hasEnded = false
        const end = (exit: Exit.Exit<CallResult>) => {
          hasEnded = true
          onEnd(exit)
        }
        const answer = (judged: Answer) => {
          const nanos = clock.monotonicTimeNanosUnsafe() - started
          return { ...judged, duration_ms: Math.round(Number(nanos) / 1e6) }
        }
        const send = () => {
          const made = make()
          if (Result.isFailure(made)) return end(Exit.succeed(answer(refused(made.failure))))
          const exchange = new Exchange(request.keep_bytes)
          const { success = null, timeout_seconds } = request
          const { outgoing, path } = made.success
          cutOff = wayTo(outgoing.origin, path).begin(
            outgoing,
            exchange,
            timeout_seconds * 1_000,
            (timedOut) => {
              const timeout = timedOut
                ? executionError(
                    "timeout",
                    `timeout after ${timeout_seconds} s while ${exchange.phase}`
                  )
                : null
              const judged = () =>
                judgeExchange(exchange, timeout, success, clock.currentTimeMillisUnsafe())
              end(exitOf(() => answer(judged())))
            }
          )
        }
        const sent = exitOf(send)
        if (Exit.isFailure(sent) && !hasEnded) end(Exit.failCause(sent.cause))
        return () => {
          if (hasEnded) return
          cutOff()
          end(Exit.interrupt())
        }
      }

      const beginNow = (request: CallRequest, onEnd: OnEnd) =>
        begin(request, () => makeRequest(request, clock), onEnd)

      const makeReady = (
        request: CallRequest,
        { atMs, inMillis }: DueTime,
        connects: boolean
      ): ReadyCall => {
        const made = makeRequest(request, clock)
        let drop = () => {}
        if (Result.isSuccess(made)) {
          const { outgoing, path, signFor } = made.success
          signFor(clock.currentTimeMillisUnsafe() + inMillis + signsAheadMs)
          if (connects) drop = wayTo(outgoing.origin, path).expect(outgoing.origin, atMs)
        }
        return {
          begin: (onEnd) => {
            drop()
            return begin(request, () => made, onEnd)
          },
          drop
        }
      }

      return Call.of({
        begin: beginNow,
        makeReady,
        run: (request) =>
          Effect.callback((resume) => {
            const cutOff = beginNow(request, resume)
            return Effect.sync(cutOff)
          })
      })
    })
  )
}

/**
 * Most calls begin at a full second, and some milliseconds after it. Those that do not are signed
 * again.
 */
const signsAheadMs = 5

/** What is thrown where no fiber would catch it is a defect of the call, and of nothing else. */
export const exitOf = <A>(get: () => A): Exit.Exit<A> => {
  try {
    return Exit.succeed(get())
  } catch (defect) {
    return Exit.die(defect)
  }
}

const opener = (rules: EgressRules): Open => {
  const connect = makeConnect(rules)
  return (origin) => new Connection(origin, connect)
}

const ownAddress = Result.getOrThrow(parseCidrs("127.0.0.1/32"))
