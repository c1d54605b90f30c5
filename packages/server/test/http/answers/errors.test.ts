// @tags slow
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { ask, assertErrorShape, type Member, statusAndError, signUp } from "../../support/http.ts"
import { methodsAt, unknownId, routes, urlWithIds } from "../../support/routes.ts"
import { TestApp, testAppLayer } from "../../support/TestApp.ts"

const urls = [...new Set(routes.map(({ path }) => urlWithIds(path)))]

/** A member whose records no test changes. */
class Somebody extends Context.Service<Somebody, Member>()("@scheduling/server/test/Somebody") {
  static readonly layer: Layer.Layer<Somebody, never, TestApp> = Layer.effect(Somebody, signUp())
}

layer(Somebody.layer.pipe(Layer.provideMerge(testAppLayer())))("Errors", (it) => {
  describe("of routes", () => {
    it.effect.each([
      "/v1",
      "/v2/health",
      "/v1/nothing",
      "/v1/Health",
      "//v1/health",
      "/v1//health",
      "/v1/health/",
      "/v1/health;x=1",
      "/v1/workspaces/",
      "/v1/workspaces/?limit=1",
      "/v1/workspaces//cron",
      "/v1/%68ealth",
      "/%76%31/health",
      "/docs/index.html",
      "/v1/%zz",
      "/v1/workspaces/%E0%A4%A",
      "/%00",
      "/v1/health/..%2f..%2fetc/passwd",
      `/v1/${"long/".repeat(2500)}`
    ])("answers 404 at %s", (path) =>
      Effect.gen(function* () {
        const answer = yield* ask("GET", path)
        assertErrorShape(answer)
        assert.strictEqual(statusAndError(answer), "404 not_found")
        assert.strictEqual(answer.body.detail.resource, "route")
      })
    )

    it.effect.each(urls)("responds with 405 and Allow for the other methods at %s", (url) =>
      Effect.gen(function* () {
        const allow = methodsAt(url)
        for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"]) {
          if (allow.includes(method)) continue
          const answer = yield* ask(method, url)
          assertErrorShape(answer)
          assert.strictEqual(statusAndError(answer), "405 method_not_allowed", method)
          assert.strictEqual(answer.headers.get("allow"), allow.join(", "))
          assert.deepStrictEqual(answer.body.detail.allow, allow)
        }
      })
    )

    it.effect.each(["/docs", "/v1/openapi.json", "/", "/favicon.ico"])(
      "answers 405 with Allow at %s",
      (path) =>
        Effect.gen(function* () {
          const answer = yield* ask("POST", path, { body: {} })
          assert.strictEqual(statusAndError(answer), "405 method_not_allowed")
          assert.strictEqual(answer.headers.get("allow"), "GET, HEAD")
        })
    )

    it.effect.each(urls)("handles HEAD like GET, or responds with 405, at %s", (url) =>
      Effect.gen(function* () {
        const head = yield* ask("HEAD", url)
        assert.strictEqual(head.text, "")
        const methods = methodsAt(url)
        const missing = ["PUT", "PATCH"].find((method) => !methods.includes(method)) ?? "DELETE"
        const asked = yield* ask(methods.includes("GET") ? "GET" : missing, url)
        assert.strictEqual(head.status, asked.status)
        for (const header of ["content-type", "allow", "www-authenticate"]) {
          assert.strictEqual(head.headers.get(header), asked.headers.get(header), header)
        }
        // The error contains the request's id, and later ids can be longer.
        const lengthOf = ({ headers }: typeof head) =>
          Number(headers.get("content-length")) - (headers.get("x-request-id")?.length ?? 0)
        assert.strictEqual(lengthOf(head), lengthOf(asked))
      })
    )
  })

  describe("of queries", () => {
    it.effect.each([
      ["limit=0", [["limit"]]],
      ["limit=101", [["limit"]]],
      ["limit=x", [["limit"]]],
      ["limit=", [["limit"]]],
      ["limit=1.5", [["limit"]]],
      ["limit=1&limit=2", [["limit"]]],
      ["cursor=junk", [["cursor"]]],
      ["cursor=", [["cursor"]]],
      ["unknown=1", [["unknown"]]],
      ["__proto__=1", [["__proto__"]]],
      ["limit=0&cursor=%00&Limit=1", [["limit"], ["cursor"], ["Limit"]]]
    ] as const)("answers 422 for ?%s", ([query, paths]) =>
      Effect.gen(function* () {
        const { access_token } = yield* Somebody
        const answer = yield* ask("GET", `/v1/workspaces?${query}`, { token: access_token })
        assertErrorShape(answer)
        assert.strictEqual(statusAndError(answer), "422 validation_failed")
        assert.sameDeepMembers(
          answer.body.detail.issues.map(({ path }: { path: unknown }) => path),
          paths.map((path) => [...path])
        )
      })
    )
  })

  describe("of ids", () => {
    const resources: Readonly<Record<string, string>> = {
      session_id: "session",
      service_account_id: "service_account",
      key_id: "api_key",
      task_id: "task",
      chain_id: "chain",
      run_id: "chain_run",
      execution_id: "execution",
      monitor_id: "monitor",
      incident_id: "incident",
      worker_id: "worker",
      queue_id: "queue",
      user_id: "member",
      invitation_id: "invitation",
      channel_id: "notification_channel",
      delivery_id: "notification_delivery"
    }
    const withIds = routes.flatMap(({ method, path }) =>
      [...path.matchAll(/:(\w+)/g)]
        .map(([, name = ""]) => name)
        .filter((name) => !["workspace_id", "key", "name", "slug", "version"].includes(name))
        .map((name) => ({ method, path, name }))
    )

    it.effect.each(withIds)(
      "responds with 404 for a $name that is no UUID at $method $path",
      (route) =>
        Effect.gen(function* () {
          const { access_token, workspace_id } = yield* Somebody
          for (const id of [
            "no-uuid",
            "%20",
            "1",
            `${unknownId}0`,
            "'%20OR%201=1",
            "a".repeat(3_000)
          ]) {
            const url = urlWithIds(route.path, { workspace_id, [route.name]: id })
            const answer = yield* ask(route.method, url, {
              token: access_token,
              ...(route.method === "GET" ? {} : { body: {} })
            })
            assertErrorShape(answer)
            assert.strictEqual(statusAndError(answer), "404 not_found")
            assert.strictEqual(answer.body.detail.resource, resources[route.name])
          }
        })
    )
  })

  describe("of ours", () => {
    it.effect(
      "responds with 500 and the request id and nothing of what went wrong, which is logged",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { access_token } = yield* Somebody
          const name = `broken_${randomBytes(6).toString("hex")}`
          yield* sql`
          CREATE FUNCTION ${sql(name)}() RETURNS trigger LANGUAGE plpgsql
          AS 'BEGIN RAISE EXCEPTION ''an internal detail''; END'`
          yield* sql`
          CREATE TRIGGER ${sql(name)} BEFORE INSERT ON workspaces FOR EACH ROW
          WHEN (NEW.name = '${sql.literal(name)}') EXECUTE FUNCTION ${sql(name)}()`
          const answer = yield* ask("POST", "/v1/workspaces", {
            token: access_token,
            body: { name }
          })
          yield* sql`DROP FUNCTION ${sql(name)} CASCADE`
          assertErrorShape(answer)
          assert.strictEqual(statusAndError(answer), "500 internal_error")
          assert.deepStrictEqual(Object.keys(answer.body.detail), ["error", "message"])
          assert.notMatch(answer.text, /internal detail|INSERT|workspaces|Error:|\.ts/)
          const { logs } = yield* TestApp
          const line = logs.find((text) => text.includes(answer.body.request_id))
          assert.include(line, "an internal detail")
        })
    )
  })
})
