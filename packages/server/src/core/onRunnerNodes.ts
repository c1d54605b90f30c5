import { Effect, Layer } from "effect"
import { AppConfig } from "./config/Config.ts"

/** Leaves the layer out on nodes with `RUNNER=off`, which only answer the API. */
export const onRunnerNodes = <E, R>(layer: Layer.Layer<never, E, R>) =>
  Layer.unwrap(Effect.map(AppConfig, ({ runner }) => (runner === "off" ? Layer.empty : layer)))
