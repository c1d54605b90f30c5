import { Context, Deferred, Effect, Layer } from "effect"

/** Whether this process was asked to stop. Requests that only wait then end. */
export class Stopping extends Context.Service<
  Stopping,
  {
    readonly isStopping: () => boolean
    readonly begin: Effect.Effect<void>
    /** Waits until it begins. */
    readonly begun: Effect.Effect<void>
  }
>()("@scheduling/server/http/Stopping") {
  static readonly layer: Layer.Layer<Stopping> = Layer.effect(
    Stopping,
    Effect.map(Deferred.make<void>(), (asked) => {
      let isStopping = false
      return Stopping.of({
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
