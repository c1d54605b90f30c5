import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { Clock, Context, Effect, Exit, Layer, Result, type Scope } from "effect"
import type { CallRequest } from "./CallRequest.ts"
import type { ResponseOrFailure, CallResult } from "./CallResult.ts"
import { Connection } from "./exchange/Connection.ts"
import {
  type ConnectionLimits,
  Connections,
  type CreateConnection
} from "./exchange/Connections.ts"
import { EgressAllow, type ConnectOptions, makeConnect, Resolver } from "./egress/Egress.ts"
import { parseCidrs } from "./egress/EgressRules.ts"
import { Exchange } from "./exchange/Exchange.ts"
import { classifyExchange, rejectedCallResult } from "./classifyExchange.ts"
import { OwnEchoUrl } from "./exchange/OwnEchoUrl.ts"
import { makeRequest, RequestNotSent } from "./OutgoingRequest.ts"
import { Timeouts } from "./Timeouts.ts"

export const CallConnectionLimits = Context.Reference<ConnectionLimits>(
  "@scheduling/calls/CallConnectionLimits",
  { defaultValue: () => ({ perOrigin: 512, idle: 4_096 }) }
)

/**
 * Opens TLS connections. By default the main thread opens them, and each handshake blocks it for a
 * millisecond.
 */
export const SecureConnections = Context.Reference<
  ((rules: ConnectOptions) => Effect.Effect<CreateConnection, never, Scope.Scope>) | undefined
>("@scheduling/calls/SecureConnections", { defaultValue: () => undefined })

type OnEnd = (end: Exit.Exit<CallResult>) => void

/** When a prepared call begins. */
export interface DueTime {
  /**
   * The due time on the caller's clock. Calls that are due at the same moment have the same value,
   * however long it takes to prepare them.
   */
  readonly atMs: number
  readonly inMillis: number
}

/** A prepared call. */
export interface PreparedCall {
  readonly begin: (onEnd: OnEnd) => () => void
  /** Releases the resources of a call that will not begin. */
  readonly drop: () => void
}

/** Makes the outgoing HTTP calls of users. A failed call is returned as a value. */
export class OutgoingCalls extends Context.Service<
  OutgoingCalls,
  {
    readonly run: (request: CallRequest) => Effect.Effect<CallResult>
    /**
     * Does the same as `run` without a fiber, at a twentieth of the cost. `onEnd` is called once.
     * Returns a function that aborts the call, after which `onEnd` receives an interruption.
     */
    readonly begin: (request: CallRequest, onEnd: OnEnd) => () => void
    /**
     * Prepares a call that begins later: signs it, and opens a connection for it if `connects` is
     * true. Without this, thousands of calls due at the same moment would wait until all of them
     * are signed and connected.
     */
    readonly makeReady: (request: CallRequest, due: DueTime, connects: boolean) => PreparedCall
  }
>()("@scheduling/calls/OutgoingCalls") {
  static readonly layer: Layer.Layer<OutgoingCalls> = Layer.effect(
    OutgoingCalls,
    Effect.gen(function* () {
      const allow = yield* EgressAllow
      const resolve = yield* Resolver
      const limits = yield* CallConnectionLimits
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
      const ownEcho = yield* OwnEchoUrl
      // Calls to the echo use separate connections. On shared connections, calls to other paths of
      // this machine would also get through.
      const toOwnEcho = new Connections(opener({ allow: ownAddress, resolve }), limits, timeouts)
      yield* Effect.addFinalizer(() => toOwnEcho.closeIdle)

      const connectionsTo = (origin: string, path: string) =>
        origin + path === ownEcho ? toOwnEcho : connections

      const begin = (
        request: CallRequest,
        build: () => ReturnType<typeof makeRequest>,
        onEnd: OnEnd
      ) => {
        const started = clock.monotonicTimeNanosUnsafe()
        let cutOff = () => {}
        let hasEnded = false
        const end = (exit: Exit.Exit<CallResult>) => {
          hasEnded = true
          onEnd(exit)
        }
        const answer = (result: ResponseOrFailure) => {
          const nanos = clock.monotonicTimeNanosUnsafe() - started
          return { ...result, duration_ms: Math.round(Number(nanos) / 1e6) }
        }
        const send = () => {
          const built = build()
          if (Result.isFailure(built))
            return end(Exit.succeed(answer(rejectedCallResult(built.failure))))
          const exchange = new Exchange(request.keep_bytes)
          const { success = null, timeout_seconds } = request
          const { outgoing, path } = built.success
          cutOff = connectionsTo(outgoing.origin, path).begin(
            outgoing,
            exchange,
            timeout_seconds * 1_000,
            (timedOut) => {
              if (exchange.error instanceof RequestNotSent) return end(Exit.interrupt())
              const timeout = timedOut
                ? executionError(
                    "timeout",
                    `timeout after ${timeout_seconds} s while ${exchange.phase}`
                  )
                : null
              const classify = () =>
                classifyExchange(
                  exchange,
                  timeout,
                  success,
                  clock.currentTimeMillisUnsafe(),
                  request.secrets
                )
              end(catchAsDefect(() => answer(classify())))
            }
          )
        }
        const sent = catchAsDefect(send)
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
      ): PreparedCall => {
        const built = makeRequest(request, clock)
        let drop = () => {}
        if (Result.isSuccess(built)) {
          const { outgoing, path, signFor } = built.success
          signFor(clock.currentTimeMillisUnsafe() + inMillis + signAheadMs)
          if (connects) drop = connectionsTo(outgoing.origin, path).expect(outgoing.origin, atMs)
        }
        return {
          begin: (onEnd) => {
            drop()
            return begin(request, () => built, onEnd)
          },
          drop
        }
      }

      return OutgoingCalls.of({
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
 * Most calls begin a few milliseconds after a full second, so they are signed for that second.
 * Calls that begin in a different second are signed again.
 */
const signAheadMs = 5

/** Returns an exception as a defect, because there is no fiber that would catch it. */
export const catchAsDefect = <A>(get: () => A): Exit.Exit<A> => {
  try {
    return Exit.succeed(get())
  } catch (defect) {
    return Exit.die(defect)
  }
}

const opener = (rules: ConnectOptions): CreateConnection => {
  const connect = makeConnect(rules)
  return (origin) => new Connection(origin, connect)
}

const ownAddress = Result.getOrThrow(parseCidrs("127.0.0.1/32"))
