// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { startTarget } from "../completions/jobs.ts"
import { setUpChainRuns } from "./setUpChainRuns.ts"
import { runningNodesLayer } from "../../support/TestApp.ts"

const accepted = () => ({ status: 200, body: '{"at":"2020-01-01T00:00:00Z"}' })

/** Ends a run's waiting time immediately. */
const letTimePass = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      UPDATE runs
      SET completes_by = now()
      WHERE id = ${id}
        AND state = 'awaiting'`
  )

layer(runningNodesLayer, { excludeTestServices: true })("a step that waits", (it) => {
  it.effect("for some seconds holds nothing meanwhile, and then the next step starts", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { create, execution, run } = yield* setUpChainRuns
      const { bodies, url } = yield* startTarget(accepted)
      const chain = yield* create([
        { name: "first", url },
        { name: "pause", kind: "wait", seconds: 7_776_000 },
        { name: "last", url, body: "{{ steps.first.status }}" }
      ])
      const started = yield* run(chain)
      const { id, started_at, waits_until } = yield* started.waiting(1)
      assert.closeTo(Date.parse(waits_until) - Date.parse(started_at), 7_776_000_000, 5)
      assert.deepStrictEqual(
        yield* sql`
          SELECT state, lease_owner, slot_queue_id
          FROM runs
          WHERE id = ${id}`,
        [{ state: "awaiting", lease_owner: null, slot_queue_id: null }]
      )
      const shown = yield* execution(id)
      assert.deepInclude(shown, {
        status: "running",
        step: "pause",
        awaiting_completion_since: null,
        waits_until
      })
      yield* letTimePass(id)
      const ended = yield* started.ended
      assert.strictEqual(ended.status, "succeeded")
      assert.deepStrictEqual(bodies, ["", "200"])
      const after = yield* execution(id)
      assert.deepInclude(after, {
        status: "succeeded",
        status_code: null,
        error: null,
        waits_until: null
      })
      assert.isAtLeast(after.duration_ms, 0)
      assert.deepInclude(after.attempts[0], { made_by: null, request: null, response_body: null })
    })
  )

  it.effect("takes as long as it says", () =>
    Effect.gen(function* () {
      const { create, run } = yield* setUpChainRuns
      const { url } = yield* startTarget(accepted)
      const chain = yield* create([
        { name: "pause", kind: "wait", seconds: 2 },
        { name: "last", url }
      ])
      const started = yield* run(chain)
      const { steps } = yield* started.ended
      assert.strictEqual(steps[0].status, "succeeded")
      assert.isAtLeast(steps[0].execution.duration_ms, 2_000)
      assert.isBelow(steps[0].execution.duration_ms, 3_000)
    })
  )

  it.effect(
    "until a time of the input or of a response goes on then, at once if it has passed",
    () =>
      Effect.gen(function* () {
        const { create, run } = yield* setUpChainRuns
        const { url } = yield* startTarget(accepted)
        const chain = yield* create([
          { name: "first", url },
          { name: "past", kind: "wait", until: "{{ steps.first.body.at }}" },
          { name: "pause", kind: "wait", until: "{{ input.at }}" }
        ])
        const at = new Date(Date.now() + 86_400_000)
        const started = yield* run(chain, { at: at.toISOString().replace("Z", "+00:00") })
        const { id, waits_until } = yield* started.waiting(2)
        assert.strictEqual(waits_until, at.toISOString())
        yield* letTimePass(id)
        const ended = yield* started.ended
        assert.deepStrictEqual(
          ended.steps.map(({ status }: { readonly status: string }) => status),
          ["succeeded", "succeeded", "succeeded"]
        )
        assert.isBelow(ended.steps[1].execution.duration_ms, 1_000)
      })
  )

  it.effect(
    "until a time that is missing, not a time or too far ahead fails, and the chain goes on",
    () =>
      Effect.gen(function* () {
        const { create, run } = yield* setUpChainRuns
        const { url } = yield* startTarget(accepted)
        const chain = yield* create([
          { name: "pause", kind: "wait", until: "{{ input.at }}" },
          { name: "alarm", url, run_if: "failure" }
        ])
        const inputs: ReadonlyArray<readonly [object, string]> = [
          [{}, "until: input.at is missing"],
          [{ at: "tomorrow" }, "until is not an ISO 8601 time with Z or an offset: tomorrow"],
          [{ at: "2999-01-01T00:00:00Z" }, "until is more than 90 days ahead"]
        ]
        for (const [input, message] of inputs) {
          const { status, steps } = yield* (yield* run(chain, input)).ended
          assert.strictEqual(status, "failed")
          assert.deepStrictEqual(steps[0].execution.error, { code: "invalid_template", message })
          assert.strictEqual(steps[1].status, "succeeded")
        }
      })
  )

  it.effect("can be cancelled, which ends the run", () =>
    Effect.gen(function* () {
      const { create, request, run } = yield* setUpChainRuns
      const { bodies, url } = yield* startTarget(accepted)
      const chain = yield* create([
        { name: "pause", kind: "wait", seconds: 60 },
        { name: "last", url, run_if: "always" }
      ])
      const started = yield* run(chain)
      const { id } = yield* started.waiting(0)
      assert.strictEqual((yield* request("POST", `/executions/${id}/cancel`)).status, 200)
      const ended = yield* started.ended
      assert.strictEqual(ended.status, "cancelled")
      assert.deepInclude(ended.steps[0].execution, { waits_until: null })
      assert.isEmpty(bodies)
    })
  )

  it.effect("leaves its slot in a queue to others, and needs none to begin", () =>
    Effect.gen(function* () {
      const { begin: beginTask, create, ended, request, run, until } = yield* setUpChainRuns
      const { url } = yield* startTarget(accepted)
      const queue = yield* request("POST", "/queues", { name: "one", max_concurrency: 1 })
      const queue_id = String(queue.body.id)
      const waitsFirst = yield* create([{ name: "pause", kind: "wait", seconds: 60 }], { queue_id })
      const waitsLater = yield* create(
        [
          { name: "first", url },
          { name: "pause", kind: "wait", seconds: 60 },
          { name: "last", url }
        ],
        { queue_id }
      )
      yield* (yield* run(waitsFirst)).waiting(0)
      const started = yield* run(waitsLater)
      const { id } = yield* started.waiting(1)
      yield* until(`/queues/${queue_id}`, ({ running, waiting }) => running + waiting === 0)
      assert.deepInclude(yield* ended(yield* beginTask({ url, queue_id })), { status: "succeeded" })
      yield* letTimePass(id)
      assert.strictEqual((yield* started.ended).status, "succeeded")
    })
  )
})
