// @tags alone
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { databaseLayer, freshDatabaseUrl, testDatabaseUrl } from "../../support/TestDatabase.ts"
import { callLayer, nodeLayer } from "./support/engine.ts"
import {
  eventually,
  readExecutions,
  insertTasks,
  insertWorkspace,
  readRuns
} from "./support/tasks.ts"

const count = 5_000

/**
 * The limit for a busy machine. On a quiet machine, the goal for the last run is 150 ms after a
 * first burst, which `support/measure.ts burst` measures.
 */
const boundMs = 1_000

/**
 * A node knows the database's clock only to within half a round trip. This test compares it with
 * the machine's clock.
 */
const clockErrorMs = 10

describe.skipIf(testDatabaseUrl === undefined)("a burst", () => {
  it.live("of 5,000 tasks at one instant starts each once, on time and none before", (test) =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl(testDatabaseUrl ?? "")
      const startedAt = new Map<string, number>()
      const calls = callLayer(({ execution_id }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          assert.isFalse(startedAt.has(execution_id))
          startedAt.set(execution_id, now)
          return {}
        })
      )
      yield* Effect.gen(function* () {
        const workspace = yield* insertWorkspace
        yield* insertTasks(workspace, { count, fires_in: 3_500 })
        const ended = yield* Effect.gen(function* () {
          yield* eventually(
            Effect.sync(() => startedAt.size),
            (started) => started === count
          )
          yield* eventually(readRuns(workspace), (left) => left.length === 0)
          return yield* readExecutions(workspace)
        }).pipe(Effect.provide(nodeLayer(calls)))

        assert.strictEqual(ended.length, count)
        assert.strictEqual(new Set(ended.map((run) => run.task_id)).size, count)
        assert.isTrue(ended.every((run) => run.status === "succeeded" && run.attempts_count === 1))
        assert.sameMembers(
          ended.map((run) => run.id),
          [...startedAt.keys()]
        )

        const lateness = ended
          .map((run) => (startedAt.get(run.id) ?? 0) - run.scheduled_for.getTime())
          .toSorted((a, b) => a - b)
        const at = (share: number) => lateness[Math.ceil(share * count) - 1] ?? Infinity
        const found = `late by p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms`
        yield* Effect.promise(() => test.annotate(found))
        assert.isAtLeast(lateness[0] ?? -Infinity, -clockErrorMs, "the first one came too early")
        assert.isAtMost(at(1), boundMs, found)
      }).pipe(Effect.provide(databaseLayer(url)))
    })
  )
})
