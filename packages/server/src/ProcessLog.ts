import { Effect, Layer } from "effect"
import { env } from "node:process"
import { settingNames, unknownSettings } from "./core/index.ts"

const signals = ["SIGINT", "SIGTERM"] as const

/**
 * Logs misspelled settings, the signal that stops the process, and the end of the process. All
 * layers that take time to stop must be provided after this layer, so that "stopped" is the last
 * line in the log.
 */
export const ProcessLogLayer: Layer.Layer<never> = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* warnOfMisspelledSettings
    const run = Effect.runSyncWith(yield* Effect.context())
    let isStopping = false
    const onSignal = (signal: NodeJS.Signals) => {
      isStopping = true
      // After the first signal, a second signal has Node's default effect and ends the process
      // immediately.
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

const warnOfMisspelledSettings = Effect.gen(function* () {
  // An empty variable is treated as unset.
  const set = Object.keys(env).filter((name) => env[name] !== "")
  for (const { meant, name } of unknownSettings(set, yield* settingNames)) {
    yield* Effect.logWarning(`${name} is not a setting; did you mean ${meant}?`)
  }
})
