import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, createKey, signUp } from "../../support/http.ts"
import { runningNodeLayer } from "../../support/TestApp.ts"

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const { access_token: token, workspace } = member
  const arrived: Array<Readonly<Record<string, unknown>>> = []
  const port = yield* httpTarget((request, response) => {
    arrived.push(request.headers)
    response
      .writeHead(arrived.length === 1 ? 503 : 200, {
        "X-Answer": "yes",
        Vary: "accept",
        "Set-Cookie": ["a=1", "b=2"]
      })
      .end("done")
  })
  const url = `http://127.0.0.1:${port}/hooks?day=2`
  const { body: task } = yield* ask("POST", `${workspace}/cron`, {
    token,
    body: {
      name: "a",
      schedule: "0 0 1 1 *",
      url,
      headers: { Authorization: "Bearer secret-1", "X-Day": "2 Feb" },
      body: '{"a":1}',
      retry_count: 1
    }
  })
  const run = Effect.map(ask("POST", `${workspace}/cron/${task.id}/run`, { token }), ({ body }) =>
    String(body.id)
  )
  const attemptsOf = (id: string, credential = token) =>
    Effect.map(
      ask("GET", `${workspace}/executions/${id}?wait_seconds=30`, { token: credential }),
      ({ body }) => body.attempts
    )
  const change = (changes: object) =>
    ask("PATCH", `${workspace}/cron/${task.id}`, { token, body: changes })
  return { arrived, attemptsOf, change, member, run, task, url }
})

/** Shifts the times at which the task's calls were replaced. */
const shiftReplaced = Effect.fnUntraced(function* (taskId: string, seconds: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE replaced_calls
    SET replaced_at = replaced_at + ${seconds} * interval '1 second'
    WHERE task_id = ${taskId}`
})

layer(runningNodeLayer(), { excludeTestServices: true })("an attempt", (it) => {
  it.effect("shows the request, the response, the duration and the node or worker", () =>
    Effect.gen(function* () {
      const { arrived, attemptsOf, run, task, url } = yield* setUp
      const id = yield* run
      const [first, second] = yield* attemptsOf(id)
      assert.deepInclude(first, { number: 1, status_code: 503, response_body: "done" })
      assert.deepInclude(second, { number: 2, status_code: 200, error: null })
      for (const attempt of [first, second]) {
        assert.deepInclude(attempt.response_headers, {
          "x-answer": "yes",
          vary: "accept",
          "set-cookie": "•••, •••"
        })
        assert.notProperty(attempt.response_headers, "connection")
        const took = Date.parse(attempt.finished_at) - Date.parse(attempt.started_at)
        assert.strictEqual(attempt.duration_ms, took)
        assert.isAtLeast(attempt.wait_ms, 0)
        assert.isNull(attempt.tls_ms)
        assert.strictEqual(attempt.made_by.kind, "node")
        assert.match(attempt.made_by.id, /^\d+$/)
        const { "user-agent": agent, ...sent } = attempt.request.headers
        assert.match(agent, /^scheduling-service\//)
        assert.deepStrictEqual(
          { ...attempt.request, headers: sent },
          {
            method: "POST",
            url,
            body: '{"a":1}',
            headers: {
              authorization: "•••",
              "x-day": "2 Feb",
              "accept-encoding": "identity",
              "content-type": "application/json",
              "idempotency-key": id,
              "x-scheduling-task-id": task.id,
              "x-scheduling-execution-id": id,
              "x-scheduling-attempt": String(attempt.number),
              "x-scheduling-scheduled-for": arrived[0]?.["x-scheduling-scheduled-for"]
            }
          }
        )
      }
      // The second attempt reuses the first attempt's connection, so it did not need to connect.
      assert.isAtLeast(first.connect_ms, 0)
      assert.isNull(second.connect_ms)
      assert.isNull(second.dns_ms)
      for (const [name, value] of Object.entries(second.request.headers)) {
        if (value !== "•••") assert.strictEqual(arrived[1]?.[name], value, name)
      }
    })
  )

  it.effect("shows the request that the task had then, also after it was changed or deleted", () =>
    Effect.gen(function* () {
      const { attemptsOf, change, member, run, task, url } = yield* setUp
      const one = yield* run
      yield* attemptsOf(one)
      yield* change({ name: "the same call" })
      yield* change({ body: "2" })
      yield* shiftReplaced(task.id, 3)
      assert.strictEqual((yield* attemptsOf(one))[1].request.body, '{"a":1}')

      // An attempt right after an update could have sent either the old or the new call.
      yield* shiftReplaced(task.id, -3)
      const two = yield* run
      assert.isNull((yield* attemptsOf(two))[0].request)
      yield* shiftReplaced(task.id, -60)
      assert.deepInclude((yield* attemptsOf(two))[0].request, { url, body: "2" })

      const { access_token: token, workspace } = member
      yield* ask("DELETE", `${workspace}/cron/${task.id}`, { token })
      assert.deepInclude((yield* attemptsOf(two))[0].request, { url, body: "2" })
    })
  )

  it.effect("keeps the last ten calls of a task", () =>
    Effect.gen(function* () {
      const { change, task } = yield* setUp
      for (let n = 1; n <= 12; n++) yield* change({ body: String(n) })
      const sql = yield* SqlClient.SqlClient
      const kept = yield* sql<{ readonly body: string }>`
        SELECT body
        FROM replaced_calls
        WHERE task_id = ${task.id}
        ORDER BY replaced_at`
      assert.deepStrictEqual(
        kept.map(({ body }) => Number(body)),
        [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
      )
    })
  )

  it.effect("shows no request to a key that may not read tasks", () =>
    Effect.gen(function* () {
      const { attemptsOf, member, run } = yield* setUp
      const id = yield* run
      yield* attemptsOf(id)
      const historian = yield* createKey(member, { scopes: ["executions:read"] })
      const [hidden] = yield* attemptsOf(id, historian.key)
      assert.isNull(hidden.request)
      assert.isNotNull(hidden.response_headers)
      const reader = yield* createKey(member, { scopes: ["executions:read", "tasks:read"] })
      assert.isNotNull((yield* attemptsOf(id, reader.key))[0].request)
    })
  )

  it.effect("of a step shows the responses that were filled in", () =>
    Effect.gen(function* () {
      const { attemptsOf, member, url } = yield* setUp
      const { access_token: token, workspace } = member
      const steps = [
        { name: "one", url, retry_count: 1 },
        { name: "two", url: `${url}&was={{ steps.one.body }}` }
      ]
      const chain = yield* ask("POST", `${workspace}/chains`, { token, body: { name: "a", steps } })
      const path = `${workspace}/chains/${chain.body.id}`
      const { body: started } = yield* ask("POST", `${path}/run`, { token })
      const { body: ended } = yield* ask("GET", `${path}/runs/${started.id}?wait_seconds=30`, {
        token
      })
      const [attempt] = yield* attemptsOf(ended.steps[1].execution.id)
      assert.deepInclude(attempt.request, { method: "POST", url: `${url}&was=done`, body: null })
    })
  )
})
