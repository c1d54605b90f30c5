import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { createServer } from "node:net"
import { AppConfig } from "../../src/core/config/Config.ts"
import { MetricsServerLayer } from "../../src/operations/metrics.ts"
import { listening } from "../support/ServerProcess.ts"

describe("the port of the metrics", () => {
  it.effect("reports that the port is already in use by another process", () =>
    Effect.gen(function* () {
      const other = createServer()
      yield* Effect.addFinalizer(() => Effect.sync(() => other.close()))
      const port = yield* listening(other)
      const failed = yield* Layer.build(
        MetricsServerLayer.pipe(Layer.provide(AppConfig.layer))
      ).pipe(
        Effect.provideService(
          ConfigProvider.ConfigProvider,
          ConfigProvider.fromEnv({ env: { METRICS_PORT: String(port) } })
        ),
        Effect.flip
      )
      assert.strictEqual(
        failed.message,
        `cannot listen on HOST 127.0.0.1, METRICS_PORT ${port}: the port is already in use by another process`
      )
    })
  )
})
