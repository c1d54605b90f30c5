import { Effect, Layer } from "effect"
import { env } from "node:process"
import { settingNames, unknownSettings } from "./core/index.ts"

const signals = ["SIGINT", "SIGTERM"] as const

/**
 * What the log says of the process itself: variables that look like a setting and are none, that it
 * was asked to stop, and that it has stopped. Nothing that is stopped may come before this layer, or
 * it would still be stopping then.
 */
export const ProcessLogLayer: Layer.Layer<never> = Layer.effectDiscard(
  Effect.gen(function* () {
    // An empty variable counts as absent.
    const set = Object.keys(env).filter((name) => env[name] !== "")
    for (const { meant, name } of unknownSettings(set, yield* settingNames)) {
      yield* Effect.logWarning(`${name} is not a setting; did you mean ${meant}?`)
    }

    const run = Effect.runSyncWith(yield* Effect.context())
    let isStopping = false
    const onSignal = (signal: NodeJS.Signals) => {
      isStopping = true
      // A second signal does what it does without us.
      unlisten()
      run(Effect.logInfo(`stopping (${signal})`))
    }
    const unlisten = () => {
      for (const signal of signals) process.off(signal, onSignal)
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        for (const signal of signals) process.on(signal, onSignal)
      }),
      () =>
        Effect.suspend(() => {
          unlisten()
          return isStopping ? Effect.logInfo("stopped") : Effect.void
        })
    )
  })
)
