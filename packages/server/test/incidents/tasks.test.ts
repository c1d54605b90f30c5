import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, createKey, statusAndError, signUp } from "../support/http.ts"
import { runningNodeLayer } from "../support/TestApp.ts"
import { eventuallyOf } from "../monitoring/monitors.ts"

/**
 * Creates a cron task whose incident opens after two failures, and whose target can be repaired.
 */
const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const { access_token: token, workspace } = member
  let status = 500
  const port = yield* httpTarget((_, response) => {
    response.statusCode = status
    response.end()
  })
  const url = `http://127.0.0.1:${port}/`
  const request = (method: string, path: string, body?: object, as = token) =>
    ask(method, workspace + path, { token: as, ...(body !== undefined && { body }) })
  yield* request("PUT", "/notifications/settings", {
    version: 0,
    rules: [],
    task_failure_threshold: 2
  })
  const task = yield* request("POST", "/cron", {
    name: "Nightly report",
    schedule: "0 0 1 1 *",
    url
  })
  const id: string = task.body.id
  const run = Effect.gen(function* () {
    const { body } = yield* request("POST", `/cron/${id}/run`)
    yield* request("GET", `/executions/${body.id}?wait_seconds=30`)
    return String(body.id)
  })
  const incidents = (query = "") =>
    Effect.map(request("GET", `/incidents?subject_id=${id}${query}`), ({ body }) => body.data)
  const opened = (count: number) =>
    eventuallyOf("an open incident", incidents(), (all) =>
      all.length === count && all[0].closed_at === null ? all[0] : undefined
    )
  const closed = eventuallyOf("a closed incident", incidents(), (all) =>
    all[0]?.closed_at === null ? undefined : all[0]
  )
  return {
    closed,
    id,
    incidents,
    member,
    opened,
    request,
    run,
    url,
    answerWith: (code: number) => {
      status = code
    }
  }
})

const typesOf = (timeline: ReadonlyArray<{ readonly type: string }>) =>
  timeline.map(({ type }) => type)

layer(runningNodeLayer(), { excludeTestServices: true })("the incident of a task", (it) => {
  it.effect("opens after enough failures in a row, and the next success closes it", () =>
    Effect.gen(function* () {
      const { answerWith, closed, id, incidents, opened, request, run } = yield* setUp
      answerWith(200)
      const good = yield* run
      answerWith(500)
      const first = yield* run
      assert.isEmpty(yield* incidents())
      const second = yield* run
      const incident = yield* opened(1)
      assert.deepInclude(incident, {
        subject: { kind: "cron", id, name: "Nightly report" },
        status: "open",
        acknowledged_at: null
      })
      assert.strictEqual(incident.cause.code, "http_status")
      yield* run
      answerWith(200)
      yield* run
      assert.strictEqual((yield* closed).status, "closed")
      assert.lengthOf(yield* incidents(), 1)
      const { body } = yield* request("GET", `/incidents/${incident.id}`)
      assert.deepStrictEqual(typesOf(body.timeline), [
        "last_good",
        "failure",
        "failure",
        "opened",
        "recovered"
      ])
      assert.deepStrictEqual(
        body.timeline
          .slice(0, 3)
          .map((entry: { readonly execution_id: string }) => entry.execution_id),
        [good, first, second]
      )
    })
  )

  it.effect("of a chain names the step that failed, and shows its last success", () =>
    Effect.gen(function* () {
      const { answerWith, request, url } = yield* setUp
      const { body: chain } = yield* request("POST", "/chains", {
        name: "Export",
        steps: [
          { name: "login", url, success_codes: ["200-599"] },
          { name: "upload", url, retry_count: 0 },
          { name: "alert", url, success_codes: ["200-599"], run_if: "failure" }
        ]
      })
      const run = Effect.gen(function* () {
        const { body } = yield* request("POST", `/chains/${chain.id}/run`)
        const path = `/chains/${chain.id}/runs/${body.id}`
        return yield* eventuallyOf("a finished run", request("GET", path), ({ body: shown }) =>
          shown.finished_at === null ? undefined : shown
        )
      })
      const uploadOf = ({
        steps
      }: {
        readonly steps: ReadonlyArray<{ readonly execution: { readonly id: string } }>
      }) => steps[1]?.execution.id
      answerWith(200)
      const good = yield* run
      answerWith(500)
      const failed = [yield* run, yield* run]
      const incident = yield* eventuallyOf(
        "an open incident",
        request("GET", `/incidents?subject_id=${chain.id}`),
        ({ body }) => body.data[0]
      )
      const { body } = yield* request("GET", `/incidents/${incident.id}`)
      assert.match(body.cause.message, /^step upload: .*500/)
      assert.deepStrictEqual(
        body.timeline
          .slice(0, 3)
          .map(
            ({ execution_id, type }: { readonly execution_id: string; readonly type: string }) => [
              type,
              execution_id
            ]
          ),
        [["last_good", uploadOf(good)], ...failed.map((one) => ["failure", uploadOf(one)])]
      )
    })
  )

  it.effect("can be closed by hand, and opens again after as many failures", () =>
    Effect.gen(function* () {
      const { closed, incidents, opened, request, run } = yield* setUp
      yield* run
      yield* run
      const incident = yield* opened(1)
      const { body } = yield* request("POST", `/incidents/${incident.id}/close`)
      assert.strictEqual(body.status, "closed")
      assert.deepInclude(body.timeline.at(-1), { type: "closed" })
      assert.strictEqual(body.timeline.at(-1).actor.kind, "user")
      const again = yield* request("POST", `/incidents/${incident.id}/close`)
      assert.deepStrictEqual(again.body, body)
      yield* run
      assert.lengthOf(yield* incidents(), 1)
      yield* closed
      yield* run
      assert.notStrictEqual((yield* opened(2)).id, incident.id)
    })
  )

  it.effect("closes without a recovery when the task is deleted, and is kept", () =>
    Effect.gen(function* () {
      const { closed, id, opened, request, run } = yield* setUp
      yield* run
      yield* run
      const incident = yield* opened(1)
      yield* request("DELETE", `/cron/${id}`)
      assert.strictEqual((yield* closed).id, incident.id)
      const { body } = yield* request("GET", `/incidents/${incident.id}`)
      assert.deepInclude(body.timeline.at(-1), { type: "closed", actor: null })
    })
  )

  it.effect("keeps notes and snoozes in its history", () =>
    Effect.gen(function* () {
      const { opened, request, run } = yield* setUp
      yield* run
      yield* run
      const path = `/incidents/${(yield* opened(1)).id}`
      const until = new Date(Date.now() + 3_600_000).toISOString()
      const snoozed = yield* request("POST", `${path}/snooze`, { until })
      assert.strictEqual(snoozed.body.snoozed_until, until)
      const noted = yield* request("POST", `${path}/notes`, { text: "The disk is full." })
      assert.deepInclude(noted.body.timeline.at(-1), { type: "note", message: "The disk is full." })
      assert.deepInclude(noted.body.timeline.at(-2), { type: "snoozed", until })
      const ended = yield* request("POST", `${path}/snooze`, { until: null })
      assert.isNull(ended.body.snoozed_until)
      for (const wrong of ["2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"]) {
        assert.strictEqual(
          statusAndError(yield* request("POST", `${path}/snooze`, { until: wrong })),
          "422 validation_failed"
        )
      }
      yield* request("POST", `${path}/close`)
      assert.strictEqual(
        statusAndError(yield* request("POST", `${path}/snooze`, { until })),
        "409 conflict"
      )
    })
  )

  it.effect("is hidden from an API key that may not read tasks", () =>
    Effect.gen(function* () {
      const { member, opened, request, run } = yield* setUp
      yield* run
      yield* run
      const { id } = yield* opened(1)
      const monitors = yield* createKey(member, { scopes: ["monitors:read", "monitors:write"] })
      const reader = yield* createKey(member, {
        scopes: ["monitors:read", "monitors:write", "tasks:read"]
      })
      const as = (key: string, method: string, path: string) =>
        request(method, path, undefined, key)
      assert.isEmpty((yield* as(monitors.key, "GET", "/incidents")).body.data)
      assert.strictEqual(
        statusAndError(yield* as(monitors.key, "GET", `/incidents/${id}`)),
        "404 not_found"
      )
      assert.lengthOf((yield* as(reader.key, "GET", "/incidents")).body.data, 1)
      assert.strictEqual(
        statusAndError(yield* as(reader.key, "POST", `/incidents/${id}/acknowledge`)),
        "404 not_found"
      )
    })
  )
})
