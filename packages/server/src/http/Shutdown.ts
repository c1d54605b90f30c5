import { Context, Deferred, Effect, Exit, Layer, Scope } from "effect"

/** Signals the shutdown of this process. Requests that only wait end when it begins. */
export class Shutdown extends Context.Service<
  Shutdown,
  {
    readonly isStopping: () => boolean
    readonly begin: Effect.Effect<void>
    /** Waits until the shutdown begins. */
    readonly begun: Effect.Effect<void>
  }
>()("@scheduling/server/http/Shutdown") {
  static readonly layer: Layer.Layer<Shutdown> = Layer.effect(
    Shutdown,
    Effect.map(Deferred.make<void>(), (asked) => {
      let isStopping = false
      return Shutdown.of({
        isStopping: () => isStopping,
        begin: Effect.suspend(() => {
          isStopping = true
          return Effect.asVoid(Deferred.succeed(asked, undefined))
        }),
        begun: Deferred.await(asked)
      })
    })
  )
}

/**
 * Stops the layer as soon as the shutdown begins. Otherwise the layer would run until the last
 * response is sent, and would have less time to finish.
 */
export const stopAtShutdown = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { begun } = yield* Shutdown
      const scope = yield* Effect.scope
      const own = yield* Scope.fork(scope)
      yield* Layer.buildWithScope(layer, own)
      yield* Effect.forkIn(
        Effect.andThen(begun, Effect.uninterruptible(Scope.close(own, Exit.void))),
        scope
      )
    })
  )
