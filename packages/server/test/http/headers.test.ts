// @tags slow
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, signUp } from "../support/http.ts"
import { requestText, sendBytes } from "../support/rawHttp.ts"
import { methodsAt, routes, urlWithIds } from "../support/routes.ts"
import { testAppLayer } from "../support/TestApp.ts"

/** One request for each kind of response. */
const asked = [
  ["GET", "/v1/health", 200],
  ["HEAD", "/v1/health", 200],
  ["GET", "/docs", 200],
  ["GET", "/v1/openapi.json", 200],
  ["GET", "/favicon.ico", 200],
  ["OPTIONS", "/v1/workspaces", 204],
  ["GET", "/v1/whoami", 401],
  ["GET", "/nothing", 404],
  ["DELETE", "/v1/health", 405],
  ["POST", "/v1/auth/login", 422]
] as const

const ours = /^[0-9a-f]{10}-[0-9a-z]+$/

layer(testAppLayer())("Headers of every response", (it) => {
  describe("x-request-id", () => {
    it.effect.each(asked)("is the client's at %s %s", ([method, path, status]) =>
      Effect.gen(function* () {
        for (const id of ["a", "018f-Ab.c_d:1", "x".repeat(128)]) {
          const answer = yield* ask(method, path, { headers: { "x-request-id": id } })
          assert.strictEqual(answer.status, status)
          assert.strictEqual(answer.headers.get("x-request-id"), id)
        }
      })
    )

    it.effect.each(asked)("is generated if the client's is invalid at %s %s", ([method, path]) =>
      Effect.gen(function* () {
        const seen = new Set<string | null>()
        const insane = [
          "",
          " ",
          "x".repeat(129),
          `pak_${"x".repeat(43)}`,
          `pwk_${"x".repeat(43)}`,
          `whsec_${"x".repeat(43)}`,
          "eyJhbGciOiJIUzI1NiJ9.e30.x",
          "a b",
          "a\tb",
          "a,b",
          "a%0d%0ab",
          "<script>",
          "ü",
          '"'
        ]
        for (const id of insane) {
          const answer = yield* ask(method, path, { headers: { "x-request-id": id } })
          const answered = answer.headers.get("x-request-id")
          assert.match(answered ?? "", ours)
          seen.add(answered)
        }
        assert.strictEqual(seen.size, insane.length)
      })
    )

    it.effect("is generated if there are two", () =>
      Effect.gen(function* () {
        const { answers } = yield* sendBytes(
          requestText("GET /v1/health", {
            "x-request-id": "a\r\nx-request-id: b",
            connection: "close"
          })
        )
        assert.match(answers[0]?.headers.get("x-request-id") ?? "", ours)
      })
    )
  })

  describe("cache-control", () => {
    const own = new Set(["/v1/openapi.json", "/docs", "/favicon.ico", "/nothing"])

    it.effect.each(asked.filter(([, path]) => !own.has(path)))(
      "forbids storing %s %s",
      ([method, path]) =>
        Effect.gen(function* () {
          const answer = yield* ask(method, path)
          assert.strictEqual(answer.headers.get("cache-control"), "no-store")
        })
    )

    it.effect("forbids storing what needs a credential", () =>
      Effect.gen(function* () {
        const { access_token: token, workspace } = yield* signUp()
        for (const path of [
          "/v1/auth/me",
          workspace,
          `${workspace}/cron`,
          `${workspace}/members`
        ]) {
          const answer = yield* ask("GET", path, { token })
          assert.strictEqual(answer.status, 200)
          assert.strictEqual(answer.headers.get("cache-control"), "no-store", path)
        }
      })
    )

    it.effect("lets the document of the API be revalidated", () =>
      Effect.gen(function* () {
        const answer = yield* ask("GET", "/v1/openapi.json")
        assert.strictEqual(answer.headers.get("cache-control"), "no-cache")
      })
    )
  })

  describe("CORS", () => {
    // `adversarial/foreignPages` tests which pages may log in.
    it.effect.each(asked.filter(([, path]) => !path.startsWith("/v1/auth/")))(
      "opens the answer to pages, and says nothing to others: %s %s",
      ([method, path]) =>
        Effect.gen(function* () {
          const page = yield* ask(method, path, { headers: { origin: "https://app.example.com" } })
          assert.strictEqual(page.headers.get("access-control-allow-origin"), "*")
          assert.isNull(page.headers.get("access-control-allow-credentials"))
          for (const header of ["etag", "x-request-id", "retry-after", "www-authenticate"]) {
            assert.include(page.headers.get("access-control-expose-headers"), header)
          }
          const other = yield* ask(method, path)
          assert.isNull(other.headers.get("access-control-allow-origin"))
        })
    )

    it.effect.each([...new Set(routes.map(({ path }) => urlWithIds(path)))])(
      "allows preflight requests at %s",
      (url) =>
        Effect.gen(function* () {
          const answer = yield* ask("OPTIONS", url, {
            headers: {
              origin: "https://app.example.com",
              "access-control-request-method": "POST",
              "access-control-request-headers": "authorization"
            }
          })
          assert.strictEqual(answer.status, 204)
          assert.strictEqual(
            answer.headers.get("access-control-allow-methods"),
            methodsAt(url).join(", ")
          )
          for (const header of [
            "authorization",
            "content-type",
            "idempotency-key",
            "if-match",
            "x-request-id"
          ]) {
            assert.include(answer.headers.get("access-control-allow-headers"), header)
          }
        })
    )
  })
})
