import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { insertRuns, runAt } from "../tasks/executions/history.ts"
import { ask, statusAndError } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"

layer(testAppLayer())("readiness", (it) => {
  it.effect("reports the lag of statistics with `deep=1`", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* insertRuns([runAt(Date.now() - 600_000, { workspace_id: randomUUID() })])
      const { body } = yield* ask("GET", "/v1/ready?deep=1")
      const lag = body.statistics_lag_seconds
      assert.isTrue(lag >= 600 && lag < 660, String(lag))
      yield* sql`UPDATE execution_stats_progress SET rolled_up_to = 1`
    })
  )

  it.effect("names failing loops with `deep=1`, while requests are served", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ready = ask("GET", "/v1/ready")
      const deep = ask("GET", "/v1/ready?deep=1")
      const deepIs = Effect.fnUntraced(function* (expected: string) {
        for (let tries = 0; tries < 300; tries++) {
          yield* TestClock.adjust("10 seconds")
          const answer = yield* deep
          if (statusAndError(answer) === expected) return answer
        }
        return assert.fail(`never responded with ${expected}`)
      })
      assert.deepStrictEqual((yield* ready).body, { status: "ok" })
      const { timer_delay_ms, ...rest } = (yield* deep).body
      assert.isNumber(timer_delay_ms)
      assert.deepStrictEqual(rest, {
        status: "ok",
        statistics_lag_seconds: 0,
        oldest_due_seconds: 0
      })
      assert.strictEqual(
        statusAndError(yield* ask("GET", "/v1/ready?deep=2")),
        "422 validation_failed"
      )

      yield* sql`ALTER TABLE audit_erasures RENAME TO hidden`
      const degraded = yield* deepIs("503 degraded")
      assert.deepStrictEqual(Object.keys(degraded.body.detail), [
        "error",
        "message",
        "failing",
        "retry_after"
      ])
      assert.deepStrictEqual(
        degraded.body.detail.failing.map((one: object) => Object.keys(one)),
        [["loop", "since"]]
      )
      assert.strictEqual(degraded.body.detail.failing[0].loop, "housekeeping")
      assert.strictEqual(statusAndError(yield* ready), "200")

      yield* sql`ALTER TABLE hidden RENAME TO audit_erasures`
      yield* deepIs("200")
    })
  )
})
