import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { generateKeyPairSync, randomUUID, sign as signWith } from "node:crypto"
import { accessStatus, ask, type Member, statusAndError, signUp } from "../../support/http.ts"
import { startNode, TestApp, twoTestNodesLayer, testConfig } from "../../support/TestApp.ts"
import { checkValueOf } from "../../support/testSecret.ts"
import { forgeJwt, hmac, decodeJwt, signingKey, noSignature } from "./forgeJwt.ts"

const secret = testConfig.appSecret ?? Redacted.make("")

const ourKey = signingKey(secret)

/**
 * Returns a function that alters a member's access token and signs it with the server's own key.
 */
const forger = Effect.fnUntraced(function* (member: Member) {
  const { bytes } = yield* ourKey
  const { claims, header } = decodeJwt(member.access_token)
  const sign = hmac("sha256", bytes)
  const without = (name: string) =>
    Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name))
  return {
    bytes,
    claims,
    header,
    sign,
    withClaims: (changed: object) => forgeJwt(header, { ...claims, ...changed }, sign),
    withHeader: (changed: object) => forgeJwt({ ...header, ...changed }, claims, sign),
    withoutClaim: (name: string) => forgeJwt(header, without(name), sign)
  }
})

const assertRefused = Effect.fnUntraced(function* (token: string, what: string) {
  const answer = yield* ask("GET", "/v1/auth/me", { token })
  assert.strictEqual(answer.status, 401, what)
  assert.deepStrictEqual(
    answer.body.detail,
    {
      error: "invalid_token",
      message:
        "The access token is not valid or has expired. Log in again, or refresh it. An API key is sent as `Bearer pak_…`."
    },
    what
  )
  assert.strictEqual(answer.headers.get("www-authenticate"), 'Bearer error="invalid_token"', what)
})

layer(twoTestNodesLayer())("access tokens", (it) => {
  it.effect("contain exactly the claims of the contract", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const access = decodeJwt(member.access_token)
      const refresh = decodeJwt(member.refresh_token)
      const { id: kid } = yield* ourKey
      assert.deepStrictEqual(access.header, { alg: "HS256", typ: "JWT", kid })
      assert.deepStrictEqual(refresh.header, { alg: "HS256", typ: "JWT", kid })
      assert.hasAllKeys(access.claims, ["iss", "aud", "sub", "sid", "typ", "jti", "iat", "exp"])
      assert.strictEqual(access.claims["sub"], member.user_id)
      assert.strictEqual(access.claims["typ"], "access")
      assert.strictEqual(refresh.claims["typ"], "refresh")
      assert.strictEqual(Number(access.claims["exp"]) - Number(access.claims["iat"]), 900)
      assert.strictEqual(Number(refresh.claims["exp"]) - Number(refresh.claims["iat"]), 2_592_000)
    })
  )

  it.effect("work for 899 seconds but not for 900", () =>
    Effect.gen(function* () {
      const { access_token } = yield* signUp()
      yield* TestClock.adjust("899 seconds")
      assert.strictEqual(yield* accessStatus(access_token), "200")
      yield* TestClock.adjust("1 second")
      yield* assertRefused(access_token, "after 900 s")
    })
  )

  it.effect("are accepted if forged with the server's own key, which proves the tests below", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { withClaims, withHeader } = yield* forger(member)
      assert.strictEqual(yield* accessStatus(withClaims({})), "200")
      assert.strictEqual(yield* accessStatus(withHeader({})), "200")
    })
  )

  it.effect("are accepted in only one spelling of the signature", () =>
    Effect.gen(function* () {
      const { access_token, refresh_token } = yield* signUp()
      const respelled = (token: string) => {
        const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        const last = alphabet[alphabet.indexOf(token.slice(-1)) + 1] ?? ""
        return [`${token}=`, `${token.slice(0, -1)}${last}`]
      }
      for (const token of respelled(access_token)) yield* assertRefused(token, token.slice(-2))
      for (const token of respelled(refresh_token)) {
        const body = { refresh_token: token }
        const answer = yield* ask("POST", "/v1/auth/refresh", { body })
        assert.strictEqual(statusAndError(answer), "401 invalid_refresh_token", token.slice(-2))
      }
      assert.strictEqual(yield* accessStatus(access_token), "200")
    })
  )

  it.effect("are rejected with another algorithm", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { bytes, claims, header, sign } = yield* forger(member)
      const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 })
      const ec = generateKeyPairSync("ec", { namedCurve: "P-256" })
      for (const alg of ["none", "None", "NONE", "nOnE"]) {
        yield* assertRefused(
          forgeJwt({ ...header, alg }, claims, noSignature),
          `alg ${alg}, unsigned`
        )
        yield* assertRefused(forgeJwt({ ...header, alg }, claims, sign), `alg ${alg}, signed`)
      }
      for (const [alg, hash] of [
        ["HS384", "sha384"],
        ["HS512", "sha512"]
      ] as const) {
        yield* assertRefused(forgeJwt({ ...header, alg }, claims, hmac(hash, bytes)), alg)
      }
      const signRsa = (input: string) => signWith("sha256", Buffer.from(input), rsa.privateKey)
      const signEc = (input: string) =>
        signWith("sha256", Buffer.from(input), { key: ec.privateKey, dsaEncoding: "ieee-p1363" })
      for (const [alg, signature, pair] of [
        ["RS256", signRsa, rsa],
        ["ES256", signEc, ec]
      ] as const) {
        const jwk = pair.publicKey.export({ format: "jwk" })
        yield* assertRefused(forgeJwt({ ...header, alg }, claims, signature), alg)
        yield* assertRefused(
          forgeJwt({ ...header, alg, jwk }, claims, signature),
          `${alg} with jwk`
        )
      }
      for (const alg of [undefined, null, "", "hs256", ["HS256"], 256]) {
        yield* assertRefused(forgeJwt({ ...header, alg }, claims, sign), `alg ${String(alg)}`)
      }
    })
  )

  it.effect("are rejected with a key that the header names or contains", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { claims, header, withHeader } = yield* forger(member)
      const kids = [
        "unknown",
        "",
        "../../../../dev/null",
        "/dev/null",
        "' OR '1'='1",
        "x' UNION SELECT 'secret' --",
        "https://evil.example/key",
        "__proto__",
        "constructor",
        [header["kid"]],
        { kid: header["kid"] },
        0,
        null,
        undefined
      ]
      for (const kid of kids) yield* assertRefused(withHeader({ kid }), `kid ${String(kid)}`)

      const theirs = Buffer.from("a key of the attacker's own, 32 bytes")
      const jwk = { kty: "oct", k: theirs.toString("base64url"), kid: "theirs", alg: "HS256" }
      const brought = {
        jwk,
        jku: "https://evil.example/jwks.json",
        x5u: "https://evil.example/cert.pem",
        x5c: ["MIIB"]
      }
      for (const [name, value] of Object.entries(brought)) {
        for (const kid of [header["kid"], "theirs"]) {
          const token = forgeJwt({ ...header, kid, [name]: value }, claims, hmac("sha256", theirs))
          yield* assertRefused(token, `${name}, kid ${String(kid)}`)
        }
      }
      for (const empty of [Buffer.alloc(0), Buffer.alloc(32), Buffer.from(String(header["kid"]))]) {
        yield* assertRefused(forgeJwt(header, claims, hmac("sha256", empty)), "a guessable key")
      }
      yield* assertRefused(withHeader({ crit: ["exp"] }), "crit")
      yield* assertRefused(withHeader({ crit: ["b64"], b64: false }), "an unencoded payload")
    })
  )

  it.effect("are rejected if a claim is missing, foreign or has the wrong time", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const other = yield* signUp()
      const { claims, withClaims, withoutClaim } = yield* forger(member)
      const now = Number(claims["iat"])
      for (const name of ["exp", "iat", "jti", "sub", "sid", "typ", "iss", "aud"]) {
        yield* assertRefused(withoutClaim(name), `no ${name}`)
      }
      const changes: ReadonlyArray<Record<string, unknown>> = [
        { exp: now },
        { exp: now - 1 },
        { exp: "9999999999" },
        { exp: null },
        { nbf: now + 31 },
        { nbf: "soon" },
        { iss: "somebody-else" },
        { iss: ["scheduling-service"] },
        { aud: "somebody-else" },
        { aud: [] },
        { sub: other.user_id },
        { sub: "1" },
        { sub: "' OR 1=1 --" },
        { sub: null },
        { sid: randomUUID() },
        { sid: "1" },
        { sid: decodeJwt(other.access_token).claims["sid"] },
        { typ: "refresh" },
        { typ: "Access" },
        { typ: ["access"] }
      ]
      for (const change of changes) {
        yield* assertRefused(withClaims(change), JSON.stringify(change))
      }
      assert.strictEqual(yield* accessStatus(withClaims({ nbf: now })), "200")
    })
  )

  it.effect("are rejected if a single bit is changed", () =>
    Effect.gen(function* () {
      const { access_token } = yield* signUp()
      const [header = "", claims = "", signature = ""] = access_token.split(".")
      const bytes = Buffer.from(signature, "base64url")
      for (const index of [0, 15, 31]) {
        const flipped = Buffer.from(bytes)
        flipped[index] = (flipped[index] ?? 0) ^ 1
        const token = `${header}.${claims}.${flipped.toString("base64url")}`
        yield* assertRefused(token, `byte ${index} of the signature`)
      }
      for (const [what, token] of [
        ["an empty signature", `${header}.${claims}.`],
        ["a truncated signature", access_token.slice(0, -1)],
        ["half a signature", `${header}.${claims}.${signature.slice(0, 21)}`],
        ["a longer signature", `${access_token}AA`],
        ["no signature", `${header}.${claims}`],
        ["a header alone", header],
        ["five segments", `${access_token}.AAAA.AAAA`],
        ["empty segments", ".."],
        ["another payload", `${header}.${Buffer.from("{}").toString("base64url")}.${signature}`],
        ["no JSON", `${Buffer.from("{").toString("base64url")}.${claims}.${signature}`],
        ["a word", "undefined"],
        ["12,000 characters", `${header}.${"A".repeat(12_000)}.${signature}`]
      ] as const) {
        yield* assertRefused(token, what)
      }
      const huge = yield* ask("GET", "/v1/auth/me", { token: "A".repeat(20_000) })
      assert.strictEqual(statusAndError(huge), "431 headers_too_large")
      assert.strictEqual(yield* accessStatus(access_token), "200")
    })
  )

  it.effect("and refresh tokens cannot replace each other", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      yield* assertRefused(member.refresh_token, "a refresh token as an access token")
      const refreshed = yield* ask("POST", "/v1/auth/refresh", {
        body: { refresh_token: member.access_token }
      })
      assert.strictEqual(statusAndError(refreshed), "401 invalid_refresh_token")
      assert.strictEqual(refreshed.headers.get("www-authenticate"), 'Bearer error="invalid_token"')
      // Neither rejection has affected the session.
      assert.strictEqual(yield* accessStatus(member.access_token), "200")
    })
  )

  it.effect("of another deployment are rejected, but accepted with a retired secret", () =>
    Effect.gen(function* () {
      const { access_token, refresh_token } = yield* signUp()
      const others = Redacted.make("the secret of another deployment, 32 bytes")
      const at = (previousAppSecrets: ReadonlyArray<Redacted.Redacted>) =>
        Effect.gen(function* () {
          const url = yield* startNode({
            ...testConfig,
            appSecret: others,
            previousAppSecrets,
            appSecretLost: checkValueOf(secret)
          })
          return { url, otherUrl: url, logs: [] }
        })
      const foreign = yield* at([])
      yield* assertRefused(access_token, "foreign").pipe(Effect.provideService(TestApp, foreign))
      const successor = yield* at([secret])
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* accessStatus(access_token), "200")
        const refreshed = yield* ask("POST", "/v1/auth/refresh", { body: { refresh_token } })
        assert.strictEqual(refreshed.status, 200)
        const { id } = yield* signingKey(others)
        assert.strictEqual(decodeJwt(refreshed.body.access_token).header["kid"], id)
      }).pipe(Effect.provideService(TestApp, successor))
    })
  )

  it.effect("stop working with their session and their user on every node", () =>
    Effect.gen(function* () {
      const loggedOut = yield* signUp()
      yield* ask("POST", "/v1/auth/logout", { token: loggedOut.access_token, at: "otherUrl" })
      yield* assertRefused(loggedOut.access_token, "after logout")
      const deleted = yield* signUp()
      const removed = yield* ask("DELETE", "/v1/auth/me", {
        token: deleted.access_token,
        body: { current_password: "correct horse battery staple" },
        at: "otherUrl"
      })
      assert.strictEqual(removed.status, 204)
      yield* assertRefused(deleted.access_token, "after the deletion of the account")
    })
  )
})
