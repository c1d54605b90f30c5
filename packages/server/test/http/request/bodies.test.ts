import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, assertErrorShape, statusAndError, signUp } from "../../support/http.ts"
import { TestApp, testAppLayer } from "../../support/TestApp.ts"

const login = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  ask("POST", "/v1/auth/login", { body, headers })

layer(testAppLayer())("Bodies", (it) => {
  it.effect("responds with 413 for a body over 1 MiB, and not at 1 MiB", () =>
    Effect.gen(function* () {
      const size = 1024 * 1024
      const atLimit = yield* login(`"${"a".repeat(size - 2)}"`)
      assert.strictEqual(statusAndError(atLimit), "422 validation_failed")
      const beyond = yield* login(`"${"a".repeat(size - 1)}"`)
      assertErrorShape(beyond)
      assert.strictEqual(statusAndError(beyond), "413 payload_too_large")
    })
  )

  it.effect.each([
    "text/plain",
    "application/xml",
    "multipart/form-data; boundary=a",
    "json",
    "*/*"
  ])("answers 415 for %s", (type) =>
    Effect.gen(function* () {
      const answer = yield* login("{}", { "content-type": type })
      assertErrorShape(answer)
      assert.strictEqual(statusAndError(answer), "415 unsupported_media_type")
    })
  )

  it.effect.each(["application/json; charset=utf-8", "Application/JSON", "application/json;"])(
    "takes %s as JSON",
    (type) =>
      Effect.gen(function* () {
        const answer = yield* login("{}", { "content-type": type })
        assert.strictEqual(statusAndError(answer), "422 validation_failed")
      })
  )

  it.effect.each([
    ["blank", "  \n"],
    ["cut off", '{"email":'],
    ["with a trailing comma", '{"email":"a@example.com",}'],
    ["with single quotes", "{'email':'a@example.com'}"],
    ["two values", "{}{}"],
    ["NaN", "NaN"]
  ])("answers 400 for a body that is %s", ([, body]) =>
    Effect.gen(function* () {
      const answer = yield* login(body)
      assertErrorShape(answer)
      assert.strictEqual(statusAndError(answer), "400 malformed_json")
    })
  )

  it.effect.each([
    ["6,000 values", 6_000, 100],
    ["6,001 values", 6_001, "The body must have at most 6000 values in all."]
  ] as const)("looks at each value of a long body, up to a bound: %s", ([, values, expected]) =>
    Effect.gen(function* () {
      // Strings that contain brackets and commas, which do not count within strings, and that end
      // with a backslash.
      const fields = Array.from(
        { length: values - 1 },
        (_, index) => `${JSON.stringify(`${index},[{\\`)} \n\t:${JSON.stringify('\\",[{":\\')}`
      )
      const answer = yield* login(`{"a":[],${fields.slice(1).join(",")}}`)
      assert.strictEqual(statusAndError(answer), "422 validation_failed")
      const { issues } = answer.body.detail
      if (typeof expected === "number") assert.lengthOf(issues, expected)
      else assert.deepStrictEqual(issues, [{ path: [], code: "too_many", message: expected }])
    })
  )

  it.effect("takes no body for an empty object, and names the fields that are missing", () =>
    Effect.gen(function* () {
      const answer = yield* login("")
      assert.strictEqual(statusAndError(answer), "422 validation_failed")
      assert.deepStrictEqual(
        answer.body.detail.issues.map(({ path }: { path: unknown }) => path),
        [["email"], ["password"]]
      )
    })
  )

  it.effect("responds with 400 for bytes that are no UTF-8", () =>
    Effect.gen(function* () {
      const { url } = yield* TestApp
      const response = yield* Effect.promise(() =>
        fetch(`${url}/v1/auth/login`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: Buffer.from('{"email":"\xff@example.com","password":"x"}', "latin1")
        })
      )
      assert.strictEqual(response.status, 400)
    })
  )

  it.effect.each([
    ["nested half a megabyte deep", "[".repeat(500_000) + "]".repeat(500_000)],
    ["nested deep where a string belongs", `{"email":${"[".repeat(9999)}${"]".repeat(9999)}}`],
    ["nested deep, and never closed", "[".repeat(1024 * 1024)],
    ["nested deep in objects, and never closed", '{"a":'.repeat(200_000)],
    ["null", "null"],
    ["a string", '"{}"'],
    ["an array", "[]"]
  ])("answers 422 for a body that is JSON, but %s", ([, body]) =>
    Effect.gen(function* () {
      const answer = yield* login(body)
      assertErrorShape(answer)
      assert.strictEqual(statusAndError(answer), "422 validation_failed")
    })
  )

  it.effect("reads the last of two equal keys, and past a byte order mark", () =>
    Effect.gen(function* () {
      const answer = yield* login(
        '\ufeff{"email":1,"email":"nobody@example.com","password":"wrong password"}'
      )
      assert.strictEqual(statusAndError(answer), "401 invalid_credentials")
    })
  )

  it.effect("lists everything that is wrong with a body, unknown fields among it", () =>
    Effect.gen(function* () {
      const { access_token, workspace } = yield* signUp()
      const answer = yield* ask("POST", `${workspace}/api-keys`, {
        token: access_token,
        body: '{"name":"","scopes":["tasks:read","nonsense",7],"__proto__":{},"constructor":1}'
      })
      assertErrorShape(answer)
      assert.strictEqual(statusAndError(answer), "422 validation_failed")
      assert.sameDeepMembers(
        answer.body.detail.issues.map(({ path }: { path: unknown }) => path),
        [["name"], ["scopes", 1], ["scopes", 2], ["__proto__"], ["constructor"]]
      )
    })
  )

  it.effect("lists no more than 100 of 3,000 unknown fields", () =>
    Effect.gen(function* () {
      const fields = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [index, 1]))
      const answer = yield* login(fields)
      assert.strictEqual(statusAndError(answer), "422 validation_failed")
      assert.strictEqual(answer.body.detail.issues.length, 100)
    })
  )
})
