import { assert, describe, it } from "@effect/vitest"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { AppConfig } from "../../../src/core/config/Config.ts"
import { CollectorState, CollectorHealth } from "../../../src/core/collector/CollectorHealth.ts"
import { Meters, NodeMeters } from "../../../src/core/Meters.ts"
import { MetricsExportLayer } from "../../../src/core/collector/Otlp.ts"
import { renderMetrics } from "../../../src/operations/metrics.ts"
import { eventually } from "../../support/ServerProcess.ts"
import { testConfig } from "../../support/TestApp.ts"

describe("a collector", () => {
  it.effect("is reported every minute while it rejects data, and when it recovers", () =>
    Effect.gen(function* () {
      let status = 503
      let taken = 0
      const port = yield* httpTarget((request, response) => {
        request.resume()
        if (status === 200) taken++
        response.writeHead(status).end()
      })
      const said: Array<string> = []
      const logs = Logger.layer([
        Logger.make(({ message }) => {
          if (String(message).startsWith("the OpenTelemetry collector")) said.push(String(message))
        })
      ])
      const collector = new CollectorState()
      const meters = new NodeMeters()
      const otlpEndpoint = `http://127.0.0.1:${port}`
      yield* Layer.build(
        MetricsExportLayer.pipe(
          Layer.provide(logs),
          Layer.provide(Layer.succeed(AppConfig, { ...testConfig, otlpEndpoint })),
          Layer.provide(Layer.succeed(CollectorHealth, collector)),
          Layer.provide(Layer.succeed(Meters, meters))
        )
      )
      /** Waits for responses, which arrive in real time, while advancing the test's clock. */
      const passes = (what: string, isSo: () => boolean) =>
        Effect.raceFirst(
          TestClock.withLive(eventually(what, async () => isSo())),
          Effect.forever(
            Effect.andThen(
              TestClock.adjust("1 second"),
              TestClock.withLive(Effect.sleep("2 millis"))
            )
          )
        )
      yield* passes("a first warning", () => said.length === 1)
      assert.deepStrictEqual(said, [
        "the OpenTelemetry collector does not accept metrics: status 503; retrying"
      ])
      yield* passes("a second warning", () => said.length === 2)
      assert.isAbove(collector.failed.metrics, 0)
      assert.match(
        renderMetrics(meters),
        /^scheduling_export_failures_total\{signal="metrics"\} [1-9]/m
      )
      status = 200
      yield* passes(
        "the end",
        () => said.at(-1) === "the OpenTelemetry collector accepts data again"
      )
      assert.isAbove(taken, 0)
    })
  )
})
