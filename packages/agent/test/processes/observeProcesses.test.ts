import { assert, describe, it } from "@effect/vitest"
import { MonitorId } from "@scheduling/domain/shared/Ids"
import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { observeProcesses } from "../../src/processes/observeProcesses.ts"
import { ProcessWatch } from "../../src/processes/ProcessWatch.ts"

const watched = {
  monitor_id: MonitorId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  match: { name: "node" },
  interval_seconds: 15
}

describe.skipIf(process.platform !== "linux")("observeProcesses", () => {
  it.effect("gives up after 10 seconds with a warning", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const watch = new ProcessWatch([], () => new Promise(() => {}))
      watch.watch([watched])
      const observing = yield* Effect.forkChild(
        observeProcesses(watch, 0).pipe(
          Effect.provide(
            Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
          )
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust("10 seconds")
      assert.isFalse(yield* Fiber.join(observing))
      assert.deepStrictEqual(lines, [
        "cannot read the processes within 10 s: no process is reported until the read finishes"
      ])
    })
  )

  it.effect("returns whether there is something to report", () =>
    Effect.gen(function* () {
      const watch = new ProcessWatch([], async () => [])
      watch.watch([watched])
      assert.isTrue(yield* observeProcesses(watch, 0))
      assert.isFalse(yield* observeProcesses(watch, 0))
    })
  )
})
