import { Effect, Layer } from "effect"
import { AppConfig } from "./config/Config.ts"

/** Omits the layer on nodes with `RUNNER=off`, which only serve the API. */
export const onlyOnRunnerNodes = <E, R>(layer: Layer.Layer<never, E, R>) =>
  Layer.unwrap(Effect.map(AppConfig, ({ runner }) => (runner === "off" ? Layer.empty : layer)))
