import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import {
  ask,
  createKey,
  statusAndError,
  textWithoutRequestId,
  times,
  runConcurrently
} from "../../support/http.ts"
import { unknownId } from "../../support/routes.ts"
import { testAppLayer, testConfig, testNow, TestApp } from "../../support/TestApp.ts"
import { minimalCron, runsOf } from "../cron/tasks.ts"
import { setUpTrigger, pathOf, senders } from "./triggers.ts"

const json = { "content-type": "application/json" }

layer(testAppLayer())("a trigger URL", (it) => {
  for (const kind of ["cron", "chains"] as const) {
    it.effect(`runs a task of ${kind} with the body as its input, also while it is paused`, () =>
      Effect.gen(function* () {
        const { member, send, task, token } = yield* setUpTrigger(null, kind)
        yield* ask("POST", `${member.workspace}/${kind}/${task.id}/pause`, { token })
        const answer = yield* send({ body: '{"ref":"main"}' })
        assert.strictEqual(answer.status, 202)
        const [run] = yield* runsOf(task.id)
        assert.deepStrictEqual(answer.body, { execution_id: run?.id })
        assert.strictEqual(run?.trigger, "manual")
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      })
    )
  }

  it.effect("takes JSON, forms, text and no body", () =>
    Effect.gen(function* () {
      const { member, send, task, token } = yield* setUpTrigger()
      const form = { "content-type": "application/x-www-form-urlencoded" }
      const bodies = [
        [{ body: "[1,null]", headers: json }, [1, null]],
        [{ body: '{"a":1}', headers: { "content-type": "application/vnd.x+json; v=1" } }, { a: 1 }],
        [
          { body: "a=1&b=x+y%21&__proto__=z", headers: form },
          JSON.parse('{"a":"1","b":"x y!","__proto__":"z"}')
        ],
        [{ body: "deploy", headers: { "content-type": "text/plain; charset=utf-8" } }, "deploy"],
        [{}, null]
      ] as const
      for (const [delivery, input] of bodies) {
        const { body } = yield* send(delivery)
        const execution = yield* ask("GET", `${member.workspace}/executions/${body.execution_id}`, {
          token
        })
        assert.deepStrictEqual(execution.body.input, input)
      }
      assert.lengthOf(yield* runsOf(task.id), bodies.length)
    })
  )

  it.effect("explains in the common format why it rejects a body", () =>
    Effect.gen(function* () {
      const { send, task } = yield* setUpTrigger()
      const long = JSON.stringify("x".repeat(64 * 1024))
      const rejected = [
        [{ body: "{" }, "400 malformed_json"],
        [{ body: "not json" }, "400 malformed_json"],
        [{ body: "<a/>", headers: { "content-type": "text/xml" } }, "415 unsupported_media_type"],
        [{ body: long }, "413 payload_too_large"],
        [
          { body: "\n".repeat(40_000), headers: { "content-type": "text/plain" } },
          "413 payload_too_large"
        ],
        [{ body: "[".repeat(40) }, "422 validation_failed"],
        [{ body: "{}", headers: { ...json, "idempotency-key": "a b" } }, "422 validation_failed"]
      ] as const
      for (const [delivery, expected] of rejected) {
        const answer = yield* send(delivery)
        assert.strictEqual(statusAndError(answer), expected, delivery.body.slice(0, 20))
        assert.isString(answer.body.request_id)
      }
      assert.isEmpty(yield* runsOf(task.id))
    })
  )

  it.effect("runs once for requests with the same Idempotency-Key", () =>
    Effect.gen(function* () {
      const { send, task } = yield* setUpTrigger()
      const headers = { ...json, "idempotency-key": "deploy-1" }
      const answers = yield* runConcurrently(times(3, () => send({ body: '{"a":1}', headers })))
      const ids = answers.filter(({ status }) => status === 202).map(({ text }) => text)
      assert.lengthOf(new Set(ids), 1)
      const other = yield* send({ body: '{"a":2}', headers })
      assert.strictEqual(statusAndError(other), "422 idempotency_mismatch")
      assert.lengthOf(yield* runsOf(task.id), 1)
    })
  )

  it.effect("is 404 unless it exists, in the same words", () =>
    Effect.gen(function* () {
      const { act, cron, send, task, url } = yield* setUpTrigger()
      const unknown = yield* send({}, `/trigger/${"A".repeat(43)}`)
      assert.strictEqual(statusAndError(unknown), "404 not_found")
      for (const path of [`/trigger/${unknownId}`, `${url.slice(0, -1)}`, `${url}x`]) {
        assert.strictEqual(
          textWithoutRequestId(yield* send({}, path)),
          textWithoutRequestId(unknown)
        )
      }
      const rotated = yield* act("POST", "/rotate-url")
      assert.strictEqual(textWithoutRequestId(yield* send({}, url)), textWithoutRequestId(unknown))
      const next = pathOf(rotated.body.url)
      assert.strictEqual((yield* send({}, next)).status, 202)
      assert.strictEqual((yield* act("DELETE")).status, 204)
      assert.strictEqual((yield* act("DELETE")).status, 204)
      assert.strictEqual(textWithoutRequestId(yield* send({}, next)), textWithoutRequestId(unknown))
      assert.strictEqual(statusAndError(yield* act("POST", "/rotate-url")), "404 not_found")
      const again = yield* setUpTrigger()
      yield* again.cron.remove(again.task.id)
      assert.strictEqual(
        textWithoutRequestId(yield* send({}, again.url)),
        textWithoutRequestId(unknown)
      )
      assert.strictEqual((yield* cron.get(task.id)).status, 200)
      assert.strictEqual(statusAndError(yield* ask("GET", url)), "405 method_not_allowed")
    })
  )

  it.effect("is off until it is turned on, and keeps its URL when its signature changes", () =>
    Effect.gen(function* () {
      const { act, cron, member, set, token, url } = yield* setUpTrigger("github")
      const { body: task } = yield* cron.create()
      const off = { enabled: false, url: null, sender: null, created_at: null }
      const path = `${member.workspace}/cron/${task.id}/trigger`
      assert.deepStrictEqual((yield* ask("GET", path, { token })).body, off)
      const { body: trigger } = yield* act("GET")
      assert.deepInclude(trigger, { enabled: true, sender: "github" })
      assert.notInclude(JSON.stringify(trigger), senders.github.secret)
      const stripe = yield* set({ signature: { sender: "stripe", secret: "whsec_12345678" } })
      assert.deepStrictEqual(stripe.body, { ...trigger, sender: "stripe" })
      assert.strictEqual(pathOf(stripe.body.url), url)
      const open = yield* set({ signature: null })
      assert.deepStrictEqual(open.body, { ...trigger, sender: null })
      for (const signature of [
        { sender: "github" },
        { sender: "github", secret: "short" },
        { sender: "standard_webhooks", secret: "whsec_short" },
        { sender: "nobody", secret: "long enough" }
      ]) {
        assert.strictEqual(statusAndError(yield* set({ signature })), "422 validation_failed")
      }
    })
  )

  it.effect("is not shown to those who may only read, and not in lists or exports", () =>
    Effect.gen(function* () {
      const { member, path, task, token, url } = yield* setUpTrigger()
      const reader = yield* createKey(member, { scopes: ["tasks:read"] })
      const { body } = yield* ask("GET", path, { token: reader.key })
      assert.deepInclude(body, { enabled: true, url: null })
      assert.strictEqual(
        statusAndError(yield* ask("PUT", path, { token: reader.key, body: {} })),
        "403 insufficient_scope"
      )
      for (const other of ["/cron", `/cron/${task.id}`, "/export"]) {
        const { text } = yield* ask("GET", member.workspace + other, { token: member.access_token })
        assert.notInclude(text, url.slice(-43))
      }
      assert.include((yield* ask("GET", path, { token })).text, url)
    })
  )

  it.effect("is found by the key of its task, and only in its workspace and kind", () =>
    Effect.gen(function* () {
      const mine = yield* setUpTrigger()
      const theirs = yield* setUpTrigger()
      const { token } = mine
      const { body: task } = yield* mine.cron.create({ key: "nightly" })
      const byKey = `${mine.member.workspace}/cron/key:nightly/trigger`
      assert.strictEqual((yield* ask("PUT", byKey, { token, body: {} })).status, 200)
      const byId = yield* ask("GET", `${mine.member.workspace}/cron/${task.id}/trigger`, { token })
      assert.isTrue(byId.body.enabled)
      for (const path of [
        `${mine.member.workspace}/cron/${theirs.task.id}/trigger`,
        `${mine.member.workspace}/chains/${task.id}/trigger`
      ]) {
        for (const method of ["GET", "DELETE"]) {
          assert.strictEqual(statusAndError(yield* ask(method, path, { token })), "404 not_found")
        }
        const set = yield* ask("PUT", path, { token, body: {} })
        assert.strictEqual(statusAndError(set), "404 not_found")
      }
      assert.strictEqual((yield* theirs.send({})).status, 202)
    })
  )

  it.effect("is created, changed, replaced and removed in the audit log, without its secrets", () =>
    Effect.gen(function* () {
      const { act, member, set, task, url } = yield* setUpTrigger("github")
      yield* set({})
      yield* act("POST", "/rotate-url")
      yield* act("DELETE")
      const { body, text } = yield* ask(
        "GET",
        `${member.workspace}/audit?subject_kind=trigger&subject_id=${task.id}`,
        { token: member.access_token }
      )
      assert.deepStrictEqual(
        body.data.map(({ action, actor }: { readonly action: string; readonly actor: object }) => [
          action,
          Object(actor)["kind"]
        ]),
        [
          ["trigger.deleted", "api_key"],
          ["trigger.rotated", "api_key"],
          ["trigger.updated", "api_key"],
          ["trigger.created", "api_key"]
        ]
      )
      assert.strictEqual(body.data[3].details.name, minimalCron.name)
      assert.notInclude(text, url.slice(-43))
      assert.notInclude(text, senders.github.secret)
    })
  )

  it.effect("is stored neither in plain text nor in the log", () =>
    Effect.gen(function* () {
      const { send, task, url } = yield* setUpTrigger("github")
      yield* send({ body: "{}" })
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ readonly text: string }>`
        SELECT task_triggers::text AS text
        FROM task_triggers
        WHERE task_id = ${task.id}`
      assert.notInclude(row?.text, url.slice(-43))
      assert.notInclude(row?.text, senders.github.secret)
      const { logs } = yield* TestApp
      assert.notInclude(logs.join("\n"), url.slice(-43))
    })
  )
})

layer(testAppLayer({ ...testConfig, rateLimit: 5, logRequests: "on" }))(
  "a trigger URL on a server with a rate limit",
  (it) => {
    it.effect("has a rate limit of its own, and its path is logged without the token", () =>
      Effect.gen(function* () {
        const { act, send, url } = yield* setUpTrigger("github")
        const answers = yield* Effect.forEach(
          times(6, (index) => index),
          () => send({ body: "{}" })
        )
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [400, 400, 400, 400, 400, 429]
        )
        assert.isString(answers[5]?.headers.get("retry-after"))
        assert.strictEqual((yield* act("GET")).status, 200)
        yield* TestClock.setTime(testNow + 60_000)
        assert.strictEqual((yield* send({ body: "{}" })).status, 400)
        const logged = (yield* TestApp).logs.join("\n")
        assert.include(logged, "/trigger/:token")
        assert.notInclude(logged, url.slice(-43))
      })
    )
  }
)
