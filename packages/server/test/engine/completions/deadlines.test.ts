import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { checkNodes } from "../../../src/engine/Nodes.ts"
import { times } from "../../support/http.ts"
import { setUpJobs, startTarget } from "./jobs.ts"
import { runningNodesLayer } from "../../support/TestApp.ts"

const accepted = () => ({ status: 202 })

// The nodes have just started, so they do not give up on jobs that were already running yet.
layer(runningNodesLayer, { excludeTestServices: true })("a job that misses its deadline", (it) => {
  it.effect("fails within a second of it, even right after the start of the service", () =>
    Effect.gen(function* () {
      const jobs = yield* setUpJobs
      const { url } = yield* startTarget(accepted)
      // On PostgreSQL, a new node does not fail overdue jobs during its first three seconds.
      yield* jobs.ended(yield* jobs.begin({ url, completion: "callback", timeout_seconds: 1 }))
      const ids = yield* Effect.forEach(
        times(3, () => 2),
        (timeout_seconds) => jobs.begin({ url, completion: "callback", timeout_seconds }),
        { concurrency: "unbounded" }
      )
      for (const id of ids) {
        const { error, finished_at, started_at, status } = yield* jobs.ended(id)
        assert.strictEqual(status, "failed")
        assert.deepStrictEqual(error, {
          code: "completion_timeout",
          message: "no completion within 2 s"
        })
        const took = Date.parse(finished_at) - Date.parse(started_at)
        assert.isAtLeast(took, 2_000)
        assert.isBelow(took, 3_000)
      }
    })
  )

  it.effect("is not decided if the node was not running all the time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const jobs = yield* setUpJobs
      const { url } = yield* startTarget(accepted)
      const id = yield* jobs.begin({ url, completion: "callback", timeout_seconds: 3_600 })
      yield* jobs.awaiting(id)
      const judged = (forMs: number, isLong = false) =>
        sql
          .withTransaction(
            Effect.gen(function* () {
              yield* sql`
                UPDATE runs
                SET completes_by = now() - interval '1 second', awaiting_since = now() - interval '5 seconds'
                WHERE id = ${id}`
              const { overdue } = yield* checkNodes(sql, { forMs, isLong })
              return yield* Effect.fail(overdue)
            })
          )
          .pipe(Effect.flip)
      assert.isFalse(yield* judged(4_000))
      assert.isTrue(yield* judged(6_000))
      assert.isTrue(yield* judged(4_000, true))
      const { completion_due_in_ms } = yield* checkNodes(sql)
      assert.closeTo(completion_due_in_ms ?? 0, 3_600_000, 60_000)
    })
  )
})
