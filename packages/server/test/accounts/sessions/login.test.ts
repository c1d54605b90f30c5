import { assert, layer } from "@effect/vitest"
import { hash } from "@node-rs/argon2"
import { InvalidCredentials } from "@scheduling/domain/auth/AuthErrors"
import { RateLimited } from "@scheduling/domain/shared/Errors"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Throttle } from "../../../src/accounts/throttle/Throttle.ts"
import { Secrets } from "../../../src/core/Secrets.ts"
import {
  accessStatus,
  ask,
  logIn,
  statusAndError,
  password,
  randomEmail,
  randomIp,
  signUp,
  textWithoutRequestId,
  times,
  runConcurrently
} from "../../support/http.ts"
import {
  realHashes,
  startNode,
  TestApp,
  twoTestNodesLayer,
  testConfig
} from "../../support/TestApp.ts"

const from = (ip: string) => ({ headers: { "x-forwarded-for": ip } })

const guess = (email: string, ip: string, at: "url" | "otherUrl" = "url") =>
  logIn(email, { ...from(ip), at, password: "not the right password" })

/**
 * The server's throttle with a fake password hash, so that fifty guesses are fast. A real hash
 * takes 30 ms.
 */
const ThrottleLayer = Throttle.layer.pipe(
  Layer.provide(Secrets.layerFrom(testConfig.appSecret ?? Redacted.make("")))
)

const wrongGuesses = (count: number, ip: string, account = randomEmail) =>
  Effect.gen(function* () {
    const { guard } = yield* Throttle
    return yield* Effect.forEach(times(count, account), (email) =>
      Effect.flip(guard({ account: email, ip }, Effect.fail(new InvalidCredentials())))
    )
  }).pipe(Effect.provide(ThrottleLayer))

layer(twoTestNodesLayer({}, realHashes))("login", (it) => {
  it.effect("returns a token pair that caches must not store", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const { body, headers, status } = yield* logIn(`  ${email.toUpperCase()} `)
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("cache-control"), "no-store")
      assert.hasAllKeys(body, ["access_token", "refresh_token", "token_type", "expires_in"])
      assert.strictEqual(body.token_type, "bearer")
      assert.strictEqual(body.expires_in, 900)
      assert.strictEqual(yield* accessStatus(body.access_token, "otherUrl"), "200")
    })
  )

  it.effect("gives the same response for a wrong password and an unknown email", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const ip = randomIp()
      const [wrong, unknown] = [yield* guess(email, ip), yield* guess(randomEmail(), ip)]
      assert.strictEqual(statusAndError(wrong), "401 invalid_credentials")
      assert.strictEqual(wrong.headers.get("www-authenticate"), "Bearer")
      assert.strictEqual(textWithoutRequestId(wrong), textWithoutRequestId(unknown))
      const headers = [wrong, unknown].map((answer) =>
        [...answer.headers].filter(([name]) => name !== "x-request-id" && name !== "date")
      )
      assert.deepStrictEqual(headers[0], headers[1])
    })
  )

  it.effect("accepts all spellings of an email as the same account", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const spellings = [email, email.toUpperCase(), ` ${email}`, `${email}\n`]
      const guesses = times(10, (index) => guess(spellings[index % 4] ?? email, randomIp()))
      yield* runConcurrently(guesses)
      assert.strictEqual(statusAndError(yield* logIn(email, from(randomIp()))), "429 rate_limited")
    })
  )

  it.effect("rejects further guesses for 15 minutes after ten wrong passwords", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const wrong = yield* Effect.forEach(times(10, randomIp), (ip) => guess(email, ip))
      assert.deepStrictEqual(
        new Set(wrong.map(statusAndError)),
        new Set(["401 invalid_credentials"])
      )
      const eleventh = yield* guess(email, randomIp())
      assert.strictEqual(statusAndError(eleventh), "429 rate_limited")
      assert.strictEqual(eleventh.headers.get("retry-after"), "900")
      assert.strictEqual(eleventh.body.detail.retry_after, 900)
      // Even the correct password is rejected, on every node.
      assert.strictEqual(statusAndError(yield* logIn(email, from(randomIp()))), "429 rate_limited")
      const elsewhere = yield* logIn(email, { ...from(randomIp()), at: "otherUrl" })
      assert.strictEqual(statusAndError(elsewhere), "429 rate_limited")
      assert.strictEqual(
        statusAndError(yield* logIn((yield* signUp()).email, from(randomIp()))),
        "200"
      )

      yield* TestClock.adjust("899999 millis")
      const last = yield* logIn(email, from(randomIp()))
      assert.strictEqual(last.headers.get("retry-after"), "1")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(statusAndError(yield* logIn(email, from(randomIp()))), "200")
    })
  )

  it.effect("checks only ten of thirty simultaneous guesses on two nodes", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const answers = yield* runConcurrently(
        times(30, (index) => guess(email, randomIp(), index % 2 === 0 ? "url" : "otherUrl"))
      )
      assert.deepStrictEqual(answers.map(statusAndError).toSorted(), [
        ...times(10, () => "401 invalid_credentials"),
        ...times(20, () => "429 rate_limited")
      ])
    })
  )

  it.effect("throttles an unknown email in the same way", () =>
    Effect.gen(function* () {
      const email = randomEmail()
      yield* wrongGuesses(10, randomIp(), () => email)
      assert.strictEqual(statusAndError(yield* guess(email, randomIp())), "429 rate_limited")
    })
  )

  it.effect(
    "with the right password resets the failures of the account, but not of the address",
    () =>
      Effect.gen(function* () {
        const { email } = yield* signUp()
        const ip = randomIp()
        yield* wrongGuesses(9, ip, () => email)
        assert.strictEqual(statusAndError(yield* logIn(email, from(ip))), "200")
        yield* wrongGuesses(9, ip, () => email)
        assert.strictEqual(statusAndError(yield* logIn(email, from(ip))), "200")
        // There have been 18 wrong guesses so far. Correct passwords do not count.
        yield* wrongGuesses(31, ip)
        assert.strictEqual(statusAndError(yield* logIn(email, from(ip))), "200")
        assert.strictEqual(statusAndError(yield* guess(email, ip)), "401 invalid_credentials")
        const shutOut = yield* logIn(email, from(ip))
        assert.strictEqual(statusAndError(shutOut), "429 rate_limited")
        assert.strictEqual(shutOut.headers.get("retry-after"), "900")
        assert.strictEqual(statusAndError(yield* logIn(email, from(randomIp()))), "200")
      })
  )

  it.effect("does not let a blocked address block accounts", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const ip = randomIp()
      yield* wrongGuesses(50, ip)
      const refused = yield* wrongGuesses(20, ip, () => email)
      assert.deepStrictEqual(new Set(refused.map(({ _tag }) => _tag)), new Set(["RateLimited"]))
      assert.strictEqual(statusAndError(yield* logIn(email, from(randomIp()))), "200")
    })
  )

  it.effect("counts an IPv6 network as one address, and IPv4 in IPv6 as IPv4", () =>
    Effect.gen(function* () {
      const subnet = `${randomEmail().slice(0, 4)}:${randomEmail().slice(0, 4)}`
      yield* Effect.forEach(
        times(50, (index) => index),
        (index) => wrongGuesses(1, `2001:${subnet}:1:${index}::1`)
      )
      const blocked = yield* guess(randomEmail(), `2001:${subnet}:1:ffff::9`)
      assert.strictEqual(statusAndError(blocked), "429 rate_limited")
      const neighbour = yield* guess(randomEmail(), `2001:${subnet}:2::1`)
      assert.strictEqual(statusAndError(neighbour), "401 invalid_credentials")
      const ip = randomIp()
      yield* wrongGuesses(50, `::ffff:${ip}`)
      assert.strictEqual(statusAndError(yield* guess(randomEmail(), ip)), "429 rate_limited")
      const other = yield* guess(randomEmail(), `::ffff:${randomIp()}`)
      assert.strictEqual(statusAndError(other), "401 invalid_credentials")
    })
  )

  it.effect("does not count guesses that were rejected before the check", () =>
    Effect.gen(function* () {
      const account = randomEmail()
      const { guard } = yield* Throttle
      const busy = Effect.fail(new RateLimited({ retry_after: 1 }))
      yield* Effect.forEach(times(60, randomIp), (ip) => Effect.flip(guard({ account, ip }, busy)))
      assert.strictEqual(
        statusAndError(yield* guess(account, randomIp())),
        "401 invalid_credentials"
      )
    }).pipe(Effect.provide(ThrottleLayer))
  )

  it.effect("uses only the part of X-Forwarded-For that a trusted proxy appended", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const ipOf = Effect.fnUntraced(function* (forwarded: string) {
        const login = yield* logIn(email, from(forwarded))
        const sessions = yield* ask("GET", "/v1/auth/sessions", {
          token: login.body.access_token
        })
        return sessions.body.data.find((session: { current: boolean }) => session.current).ip
      })
      assert.strictEqual(yield* ipOf("198.51.100.7"), "198.51.100.7")
      assert.strictEqual(yield* ipOf("6.6.6.6, 198.51.100.7"), "198.51.100.7")
      assert.strictEqual(yield* ipOf("6.6.6.6, 198.51.100.7, 127.0.0.9"), "198.51.100.7")
      assert.strictEqual(yield* ipOf("<script>"), "127.0.0.1")
      const url = yield* startNode({ ...testConfig, trustProxy: [] })
      const untrusting = { url, otherUrl: url, logs: [] }
      assert.strictEqual(
        yield* ipOf("198.51.100.7").pipe(Effect.provideService(TestApp, untrusting)),
        "127.0.0.1"
      )
    })
  )

  it.effect("is throttled also with right passwords, at a higher limit", () =>
    Effect.gen(function* () {
      const { guard } = yield* Throttle
      const succeed = (account: string, ip: string) =>
        Effect.match(guard({ account, ip }, Effect.void), {
          onFailure: ({ _tag }) => _tag,
          onSuccess: () => "in"
        })
      const [account, ip] = [randomEmail(), randomIp()]
      const ofAccount = yield* Effect.forEach(times(101, randomIp), (other) =>
        succeed(account, other)
      )
      assert.deepStrictEqual(ofAccount.slice(99), ["in", "RateLimited"])
      const ofAddress = yield* Effect.forEach(times(501, randomEmail), (other) =>
        succeed(other, ip)
      )
      assert.deepStrictEqual(ofAddress.slice(499), ["in", "RateLimited"])
      yield* TestClock.adjust("15 minutes")
      assert.strictEqual(yield* succeed(account, ip), "in")
    }).pipe(Effect.provide(ThrottleLayer))
  )

  it.effect("hashes a password again that was hashed with weaker parameters", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { email, user_id } = yield* signUp()
      const weak = yield* Effect.promise(() =>
        hash(password, { memoryCost: 8192, timeCost: 1, parallelism: 1 })
      )
      const hashNow = Effect.map(
        sql<{ password_hash: string }>`SELECT password_hash FROM users WHERE id = ${user_id}`,
        ([row]) => row?.password_hash ?? ""
      )
      yield* sql`UPDATE users SET password_hash = ${weak} WHERE id = ${user_id}`
      yield* guess(email, randomIp())
      assert.strictEqual(yield* hashNow, weak)
      // The first of the simultaneous logins rehashes the password. This must not make the others
      // fail.
      const logins = yield* runConcurrently(times(4, () => logIn(email, from(randomIp()))))
      assert.deepStrictEqual(
        logins.map(statusAndError),
        times(4, () => "200")
      )
      const strong = yield* hashNow
      assert.match(strong, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
      assert.strictEqual(statusAndError(yield* logIn(email, from(randomIp()))), "200")
      assert.strictEqual(yield* hashNow, strong)
    })
  )

  it.effect("does not apply the rules for new passwords", () =>
    Effect.gen(function* () {
      const ip = randomIp()
      const answer = (body: unknown) => ask("POST", "/v1/auth/login", { body, ...from(ip) })
      const email = randomEmail()
      assert.strictEqual(
        statusAndError(yield* answer({ email, password: "x" })),
        "401 invalid_credentials"
      )
      for (const body of [
        {},
        { email },
        { email, password: "" },
        { email, password: "x".repeat(257) },
        { email, password: 1 },
        { email: "nobody", password: "x" },
        { email: `${"a".repeat(65)}@example.com`, password: "x" },
        { email, password: "x", remember: true }
      ]) {
        assert.strictEqual(statusAndError(yield* answer(body)), "422 validation_failed")
      }
    })
  )
})
