import { assert, describe, it } from "@effect/vitest"
import { MonitorId } from "@scheduling/domain/shared/Ids"
import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { look } from "../../src/processes/look.ts"
import { ProcessWatch } from "../../src/processes/processes.ts"

const watched = {
  monitor_id: MonitorId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  match: { name: "node" },
  interval_seconds: 15
}

describe.skipIf(process.platform !== "linux")("a look at processes", () => {
  it.effect("that hangs is told of, and holds up nothing", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const watch = new ProcessWatch([], () => new Promise(() => {}))
      watch.watch([watched])
      const looking = yield* Effect.forkChild(
        look(watch, 0).pipe(
          Effect.provide(
            Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
          )
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust("10 seconds")
      assert.isFalse(yield* Fiber.join(looking))
      assert.deepStrictEqual(lines, [
        "looking at processes takes longer than 10 s; none is reported until it ends"
      ])
    })
  )

  it.effect("that sees something is to be reported", () =>
    Effect.gen(function* () {
      const watch = new ProcessWatch([], async () => [])
      watch.watch([watched])
      assert.isTrue(yield* look(watch, 0))
      assert.isFalse(yield* look(watch, 0))
    })
  )
})
