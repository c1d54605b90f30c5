import { assert, describe, it, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { ApiKeyRepo } from "../../../src/accounts/api-keys/ApiKeyRepo.ts"
import { KeyUses } from "../../../src/accounts/api-keys/KeyUses.ts"
import { Auth } from "../../../src/accounts/auth/Auth.ts"
import { parseBearer } from "../../../src/accounts/auth/bearer.ts"
import { SessionsRepo } from "../../../src/accounts/sessions/SessionsRepo.ts"
import { Tokens } from "../../../src/accounts/sessions/Tokens.ts"
import { Ids } from "../../../src/core/Ids.ts"
import { Secrets } from "../../../src/core/Secrets.ts"
import { ask, askRaw, createKey, statusAndError, signUp } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

const wellFormed = `pak_${"A".repeat(43)}`
const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"

const missing = "401 missing_credentials"
const badKey = "401 invalid_api_key"
const badToken = "401 invalid_token"

/** Malformed `Authorization` headers. `key` is a valid API key. */
const malformed = (
  key: string
): ReadonlyArray<readonly [string, ReadonlyArray<string>, string]> => [
  ["a key that is too short", [`Bearer ${key.slice(0, -1)}`], badKey],
  ["a key that is too long", [`Bearer ${key}A`], badKey],
  ["the prefix alone", ["Bearer pak_"], badKey],
  ["a key with a letter outside the alphabet", [`Bearer ${key.slice(0, -1)}.`], badKey],
  ["a key in standard base64", [`Bearer ${key.slice(0, -2)}+/`], badKey],
  ["a key with padding", [`Bearer ${key.slice(0, -1)}=`], badKey],
  ["the prefix with a JWT behind it", [`Bearer pak_${jwt}`], badKey],
  ["a key in upper case", [`Bearer ${key.toUpperCase()}`], badToken],
  ["a prefix in upper case", [`Bearer PAK_${key.slice(4)}`], badToken],
  ["a key without its prefix", [`Bearer ${key.slice(4)}`], badToken],
  ["a key after a letter", [`Bearer x${key}`], badToken],
  ["a key in quotes", [`Bearer "${key}"`], badToken],
  ["two spaces", [`Bearer  ${key}`], badKey],
  ["a tab", [`Bearer\t${key}`], badKey],
  ["a key and a space within", [`Bearer pak_ ${key.slice(4)}`], badKey],
  ["a key twice", [`Bearer ${key} ${key}`], badKey],
  ["a key twice, with a comma", [`Bearer ${key},${key}`], badKey],
  ["a list of schemes", [`Bearer ${key}, Basic eDp5`], badKey],
  ["a parameter", [`Bearer ${key}; realm=x`], badKey],
  ["two headers with the same key", [`Bearer ${key}`, `Bearer ${key}`], badKey],
  ["two headers, a key and a JWT", [`Bearer ${key}`, `Bearer ${jwt}`], badKey],
  ["two headers with JWTs", [`Bearer ${jwt}`, `Bearer ${jwt}`], badToken],
  ["the scheme alone", ["Bearer"], badToken],
  ["nothing", [""], badToken],
  ["a bare key", [key], badToken],
  ["the scheme glued to the key", [`Bearer${key}`], badToken],
  ["Basic", [`Basic ${Buffer.from(`${key}:`).toString("base64")}`], badToken],
  ["Basic with a key", [`Basic ${key}`], badToken],
  ["Token", [`Token ${key}`], badToken],
  ["a JWT that is none", ["Bearer null"], badToken]
]

describe("parseBearer", () => {
  it.prop(
    "finds a key or a token in one header, with the scheme in any case",
    [
      Schema.String.check(Schema.isPattern(/^(?:pak_)?[A-Za-z0-9._~+/-]{1,60}={0,2}$/)),
      Schema.Literals(["Bearer", "bearer", "BEARER", "bEaReR"])
    ],
    ([token, scheme]) => {
      const header = `${scheme} ${token}`
      assert.deepStrictEqual(
        parseBearer([header]),
        token.startsWith("pak_") ? { kind: "api_key", key: token } : { kind: "jwt", token }
      )
      assert.strictEqual(parseBearer([header, header]).kind, "malformed")
      assert.strictEqual(parseBearer([` ${header}`]).kind, "malformed")
      assert.strictEqual(parseBearer([`${header} `]).kind, "malformed")
    }
  )

  it.prop(
    "accepts no whitespace or control characters in a credential",
    [Schema.Array(Schema.String)],
    ([headers]) => {
      const credential = parseBearer(headers)
      if (headers.length === 0) assert.strictEqual(credential.kind, "none")
      if (credential.kind === "api_key") assert.match(credential.key, /^pak_[\x21-\x7e]*$/)
      if (credential.kind === "jwt") assert.match(credential.token, /^[\x21-\x7e]+$/)
    }
  )
})

describe("a malformed credential", () => {
  const nothingAnswers = Auth.layer.pipe(
    Layer.provide([
      Layer.mock(ApiKeyRepo, {}),
      Layer.mock(SessionsRepo, {}),
      Layer.mock(KeyUses, { touch: () => {}, note: () => {} }),
      Tokens.layer.pipe(Layer.provide(Ids.layer))
    ]),
    Layer.provide(Secrets.layerFrom(Redacted.make("a secret that nobody ever used for anything")))
  )

  it.effect("is rejected without a query", () =>
    Effect.gen(function* () {
      const auth = yield* Auth
      const authenticate = (...headers: ReadonlyArray<string>) =>
        Effect.exit(auth.authenticate(parseBearer(headers), undefined, null))
      for (const [what, headers] of malformed(wellFormed)) {
        const exit = yield* authenticate(...headers)
        assert.isTrue(Exit.isFailure(exit) && Cause.hasFails(exit.cause), what)
      }
      // The repositories in this test die when they are called.
      const exit = yield* authenticate(`Bearer ${wellFormed}`)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }).pipe(Effect.provide(nothingAnswers))
  )
})

layer(testAppLayer())("the Authorization header", (it) => {
  it.effect("must contain exactly one bearer credential", () =>
    Effect.gen(function* () {
      const { key } = yield* createKey(yield* signUp())
      for (const [what, headers, expected] of malformed(key)) {
        const raw = headers.flatMap((header) => ["authorization", header])
        const answer = yield* askRaw("GET", "/v1/whoami", raw)
        assert.strictEqual(statusAndError(answer), expected, what)
        assert.strictEqual(
          answer.headers.get("www-authenticate"),
          'Bearer error="invalid_token"',
          what
        )
      }
      for (const scheme of ["Bearer", "bearer", "BEARER"]) {
        const answer = yield* askRaw("GET", "/v1/whoami", ["AUTHORIZATION", `${scheme} ${key}`])
        assert.strictEqual(statusAndError(answer), "200", scheme)
      }
    })
  )

  it.effect("is the only source of credentials", () =>
    Effect.gen(function* () {
      const { key } = yield* createKey(yield* signUp())
      const elsewhere: ReadonlyArray<readonly [string, string, ReadonlyArray<string>]> = [
        ["nowhere", "/v1/whoami", []],
        ["api_key in the query", `/v1/whoami?api_key=${key}`, []],
        ["access_token in the query", `/v1/whoami?access_token=${key}`, []],
        ["a cookie", "/v1/whoami", ["cookie", `access_token=${key}; token=${key}`]],
        ["x-api-key", "/v1/whoami", ["x-api-key", key]],
        ["proxy-authorization", "/v1/whoami", ["proxy-authorization", `Bearer ${key}`]],
        ["x-authorization", "/v1/whoami", ["x-authorization", `Bearer ${key}`]]
      ]
      for (const [where, path, headers] of elsewhere) {
        const answer = yield* askRaw("GET", path, headers)
        assert.strictEqual(statusAndError(answer), missing, where)
        assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer", where)
      }
    })
  )

  it.effect("with an API key is rejected on all of /v1/auth, including public endpoints", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { key } = yield* createKey(member)
      const id = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
      for (const [method, path] of [
        ["POST", "/v1/auth/register"],
        ["POST", "/v1/auth/login"],
        ["POST", "/v1/auth/refresh"],
        ["POST", "/v1/auth/logout"],
        ["GET", "/v1/auth/me"],
        ["PATCH", "/v1/auth/me"],
        ["DELETE", "/v1/auth/me"],
        ["POST", "/v1/auth/password"],
        ["GET", "/v1/auth/sessions"],
        ["DELETE", `/v1/auth/sessions/${id}`]
      ] as const) {
        const body = method === "GET" ? undefined : {}
        const refusal = (token: string) =>
          Effect.map(ask(method, path, { token, body }), statusAndError)
        assert.strictEqual(yield* refusal(key), "403 jwt_only", `${method} ${path}`)
        assert.strictEqual(yield* refusal(wellFormed), badKey, `${method} ${path}`)
        assert.strictEqual(yield* refusal("pak_short"), badKey, `${method} ${path}`)
      }
      // Other credentials are ignored, so that a client with an expired token can log in.
      const login = yield* ask("POST", "/v1/auth/refresh", {
        token: "stale",
        body: { refresh_token: member.refresh_token }
      })
      assert.strictEqual(login.status, 200)
    })
  )
})
