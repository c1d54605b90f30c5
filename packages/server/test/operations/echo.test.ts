import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { createHmac } from "node:crypto"
import { ask, type Member, signUp } from "../support/http.ts"
import { startNode, TestApp, testConfig } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

/** A member, and two nodes that make calls and do not set `EGRESS_ALLOW`. */
class Fixture extends Context.Service<Fixture, Member>()("@scheduling/server/test/system/Echo") {
  static readonly layer = Layer.effect(Fixture, signUp()).pipe(
    Layer.provideMerge(
      Layer.effect(
        TestApp,
        Effect.gen(function* () {
          const url = yield* startNode({ ...testConfig, runner: "on" })
          // The node listens on all of the machine's addresses, behind a proxy on the same machine.
          const otherUrl = yield* startNode({ ...testConfig, host: "0.0.0.0" })
          return TestApp.of({ url, otherUrl: otherUrl.replace("0.0.0.0", "127.0.0.1"), logs: [] })
        })
      )
    ),
    Layer.provide(TestDatabaseLayer),
    Layer.orDie
  )
}

layer(Fixture.layer, { excludeTestServices: true })("/v1/echo", (it) => {
  const outcomeOf = Effect.fnUntraced(function* (call: object) {
    const { access_token: token, workspace } = yield* Fixture
    const created = yield* ask("POST", `${workspace}/delayed`, {
      token,
      body: { delay_seconds: 3_600, ...call }
    })
    assert.strictEqual(created.status, 201, created.text)
    const run = yield* ask("POST", `${workspace}/delayed/${created.body.id}/run`, { token })
    const at = `${workspace}/executions/${run.body.id}?wait_seconds=30`
    return (yield* ask("GET", at, { token })).body
  })

  it.effect("responds with its request, without credentials", () =>
    Effect.gen(function* () {
      const sent = yield* ask("POST", "/v1/echo", {
        token: "not to be seen",
        headers: { cookie: "a=b", "x-mine": "1", "content-type": "text/plain" },
        body: "hällo, not JSON"
      })
      assert.strictEqual(sent.status, 200)
      assert.strictEqual(sent.headers.get("cache-control"), "no-store")
      assert.deepInclude(sent.body, { method: "POST", body: "hällo, not JSON" })
      assert.strictEqual(sent.body.headers["x-mine"], "1")
      assert.notProperty(sent.body.headers, "authorization")
      assert.notProperty(sent.body.headers, "cookie")
      assert.deepInclude((yield* ask("GET", "/v1/echo")).body, { method: "GET", body: null })
      assert.strictEqual((yield* ask("POST", "/v1/echo")).body.body, null)
      assert.strictEqual((yield* ask("DELETE", "/v1/echo")).status, 405)
      const long = yield* ask("POST", "/v1/echo", { body: "a".repeat(100_000) })
      assert.strictEqual(long.body.body, "a".repeat(4_096))
    })
  )

  it.effect("of the node itself is allowed without EGRESS_ALLOW, and shows what targets get", () =>
    Effect.gen(function* () {
      const { url } = yield* TestApp
      const { access_token: token, workspace } = yield* Fixture
      const body = JSON.stringify({ hello: "world" })
      const outcome = yield* outcomeOf({ url: `${url}/v1/echo`, method: "POST", body })
      assert.deepInclude(outcome, { status: "succeeded", status_code: 200, error: null })
      const echoed = JSON.parse(outcome.attempts[0].response_body)
      assert.deepInclude(echoed, { method: "POST", body })
      assert.strictEqual(echoed.headers["webhook-id"], outcome.id)
      assert.strictEqual(echoed.headers["idempotency-key"], outcome.id)
      const secrets = `${workspace}/signing-secrets?url=${url}`
      const { body: signing } = yield* ask("GET", secrets, { token })
      const key = Buffer.from(String(signing.data[0].call_secret).replace(/^whsec_/, ""), "base64")
      const message = `${outcome.id}.${echoed.headers["webhook-timestamp"]}.${body}`
      const signature = createHmac("sha256", key).update(message).digest("base64")
      assert.strictEqual(echoed.headers["webhook-signature"], `v1,${signature}`)
    })
  )

  it.effect("of the node itself allows no other URL of the node", () =>
    Effect.gen(function* () {
      const { otherUrl, url } = yield* TestApp
      const { access_token: token, workspace } = yield* Fixture
      const { port } = new URL(url)
      // The connection is kept open, but cannot be used for a different path.
      assert.strictEqual((yield* outcomeOf({ url: `${url}/v1/echo` })).status, "succeeded")
      for (const refused of [
        `${url}/v1/whoami`,
        `${url}/v1/echo/`,
        `${url}/v1/echo?a`,
        `${url}/v1//echo`,
        `${url}/v1/echo;a`,
        `${url}/v1/%65cho`,
        `${url}/v1/Echo`,
        `${url}/v1/echo%2f..%2fhealth`,
        `${url}/v1/echo/../health`,
        `https://127.0.0.1:${port}/v1/echo`,
        `http://127.0.0.2:${port}/v1/echo`,
        `http://localhost:${port}/v1/echo`,
        `http://[::1]:${port}/v1/echo`,
        `http://0.0.0.0:${port}/v1/echo`,
        "http://127.0.0.1:1/v1/echo",
        "http://LOCALHOST./",
        "http://a.b.localhost./"
      ]) {
        const body = { delay_seconds: 3_600, url: refused }
        const answer = yield* ask("POST", `${workspace}/delayed`, { token, body })
        assert.strictEqual(answer.status, 422, refused)
      }
      // The node itself accepts its own URL, but another node makes the call.
      const body = { delay_seconds: 3_600, url: `${otherUrl}/v1/echo` }
      const created = yield* ask("POST", `${workspace}/delayed`, { token, body, at: "otherUrl" })
      assert.strictEqual(created.status, 201, created.text)
      const run = yield* ask("POST", `${workspace}/delayed/${created.body.id}/run`, { token })
      const ended = yield* ask("GET", `${workspace}/executions/${run.body.id}?wait_seconds=30`, {
        token
      })
      assert.deepInclude(ended.body, { status: "failed", attempts_count: 1 })
      assert.match(ended.body.error.message, /loopback and not allowed$/)
    })
  )

  it.effect("leaves out proxy headers, even if a task sets them", () =>
    Effect.gen(function* () {
      const { url } = yield* TestApp
      const headers = { "x-forwarded-for": "203.0.113.9", "x-forwarded-host": "example.com" }
      const outcome = yield* outcomeOf({ url: `${url}/v1/echo`, headers })
      assert.strictEqual(outcome.status, "succeeded")
      const echoed = JSON.parse(outcome.attempts[0].response_body)
      assert.hasAllKeys(echoed, ["method", "headers", "body"])
    })
  )
})
