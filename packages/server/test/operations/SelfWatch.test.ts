import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { insertRuns, runAt } from "../tasks/executions/history.ts"
import { ask, statusAndError } from "../support/http.ts"
import { parseScrape } from "../support/prometheus.ts"
import { TestApp, testAppLayer, testNow } from "../support/TestApp.ts"

const token = "a token for those who look"

/** The nodes have no runner, so that due runs stay due. */
layer(testAppLayer({ metricsToken: Redacted.make(token) }))(
  "a service that watches itself",
  (it) => {
    it.effect("reports that no runs fire or start, and when they do again", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { logs } = yield* TestApp
        const valueOf = (name: string) =>
          Effect.map(
            ask("GET", "/metrics", { token }),
            ({ text }) => parseScrape(text).find((one) => one.name === name)?.value ?? Number.NaN
          )
        const lines = () =>
          logs
            .map((line) => JSON.parse(line))
            .filter(({ message }) => String(message).startsWith("runs "))
        const until = Effect.fnUntraced(function* (name: string, expected: number) {
          for (let tries = 0; tries < 300; tries++) {
            yield* TestClock.adjust("10 seconds")
            if ((yield* valueOf(name)) === expected) return
          }
          return assert.fail(`${name} was never ${expected}`)
        })
        // If the clock moved five minutes in one step, a loop would assume that a statement had
        // hung for that long.
        const untilWell = Effect.gen(function* () {
          for (let tries = 0; tries < 300; tries++) {
            if (statusAndError(yield* ask("GET", "/v1/ready?deep=1")) === "200") return
            yield* TestClock.adjust("10 seconds")
          }
          return assert.fail("the service was never well")
        })
        const workspace_id = randomUUID()
        const due = runAt(testNow, { workspace_id, status: "queued" })
        yield* insertRuns([due])
        yield* sql`UPDATE runs SET run_on = '["a"]'`
        yield* sql`
          INSERT INTO nodes (holds_lock, worker_id, lease_until)
          VALUES (false, ${randomUUID()}, 'infinity')`
        yield* until("scheduling_worker_due_runs", 1)
        yield* until("scheduling_workers_online", 1)
        yield* TestClock.adjust("5 minutes")
        // Runs that are waiting for a worker do not count, because users run the workers.
        assert.strictEqual(yield* valueOf("scheduling_oldest_due_run_age_seconds"), 0)
        assert.strictEqual(yield* valueOf("scheduling_worker_due_runs"), 1)
        assert.strictEqual(yield* valueOf("scheduling_workers_online"), 1)
        assert.strictEqual(yield* valueOf("scheduling_nodes"), 0)
        yield* untilWell

        yield* sql`UPDATE runs SET run_on = NULL`
        yield* until("scheduling_engine_late", 1)
        assert.isAbove(yield* valueOf("scheduling_oldest_due_run_age_seconds"), 60)
        assert.strictEqual(yield* valueOf("scheduling_due_runs"), 1)
        const degraded = yield* ask("GET", "/v1/ready?deep=1")
        assert.strictEqual(statusAndError(degraded), "503 degraded")
        assert.deepStrictEqual(
          degraded.body.detail.failing.map(({ loop }: { readonly loop: string }) => loop),
          ["starting due runs"]
        )
        assert.match(
          lines()[0]?.message,
          /^runs are late: the oldest due run has waited for \d+ s$/
        )
        assert.strictEqual(lines()[0]?.level, "ERROR")

        yield* sql`DELETE FROM runs`
        yield* until("scheduling_engine_late", 0)
        assert.strictEqual(lines().at(-1)?.message, "runs start on time again")
        yield* untilWell
      })
    )
  }
)
