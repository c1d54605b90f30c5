import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  accessStatus,
  type Answer,
  ask,
  askToken,
  createServiceAccount,
  statusAndError,
  signUp
} from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`
})

const grant = "grant_type=client_credentials"

/** Asserts that an error has the format specified in RFC 6749, section 5.2. */
const assertRefused = (answer: Answer, status: number, error: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.deepStrictEqual(Object.keys(answer.body), ["error", "error_description"])
  assert.strictEqual(answer.body.error, error)
  assert.match(answer.body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+\.$/)
  assert.strictEqual(answer.headers.get("content-type"), "application/json")
  assert.strictEqual(answer.headers.get("cache-control"), "no-store")
  assert.strictEqual(
    answer.headers.get("www-authenticate"),
    status === 401 ? 'Basic realm="scheduling-service"' : null
  )
}

layer(testAppLayer())("The token endpoint", (it) => {
  it.effect("accepts the client in the form or by HTTP Basic", () =>
    Effect.gen(function* () {
      const { client_id, client_secret } = yield* createServiceAccount(yield* signUp())
      const answers = yield* Effect.all([
        askToken({ grant_type: "client_credentials", client_id, client_secret }),
        askToken(grant, basic(client_id, client_secret)),
        askToken(`${grant}&client_id=${client_id}&resource=a`, basic(client_id, client_secret)),
        // The client id and the secret are form-encoded.
        askToken(`${grant}&scope=`, basic(client_id.replaceAll("-", "%2D"), client_secret)),
        askToken(grant, {
          ...basic(client_id, client_secret),
          "content-type": "application/x-www-form-urlencoded; charset=UTF-8"
        })
      ])
      for (const { body, headers, status } of answers) {
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(Object.keys(body), ["access_token", "token_type", "expires_in"])
        assert.deepStrictEqual([body.token_type, body.expires_in], ["Bearer", 900])
        assert.strictEqual(headers.get("cache-control"), "no-store")
        assert.strictEqual(headers.get("pragma"), "no-cache")
        assert.strictEqual(yield* accessStatus(body.access_token), "200")
      }
    })
  )

  it.effect("returns the errors of RFC 6749", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { client_id, client_secret } = yield* createServiceAccount(member)
      const client = `client_id=${client_id}&client_secret=${client_secret}`
      const refused = [
        [400, "invalid_request", ""],
        [400, "invalid_request", client],
        [400, "unsupported_grant_type", `grant_type=password&${client}`],
        [400, "invalid_scope", `${grant}&scope=tasks&${client}`],
        [400, "invalid_request", `${grant}&${grant}&${client}`],
        [401, "invalid_client", grant],
        [401, "invalid_client", `${grant}&client_id=${client_id}`],
        [401, "invalid_client", `${grant}&client_id=${client_id}&client_secret=psk_wrong`],
        [401, "invalid_client", `${grant}&client_id=nobody&client_secret=${client_secret}`],
        [
          401,
          "invalid_client",
          `${grant}&client_id=${member.user_id}&client_secret=${client_secret}`
        ]
      ] as const
      for (const [status, error, form] of refused) {
        assertRefused(yield* askToken(form), status, error)
      }
      const own = basic(client_id, client_secret)
      assertRefused(yield* askToken(`${grant}&${client}`, own), 400, "invalid_request")
      assertRefused(yield* askToken(`${grant}&client_id=other`, own), 400, "invalid_request")
      assertRefused(yield* askToken(grant, basic(client_id, "psk_wrong")), 401, "invalid_client")
      for (const authorization of ["Basic", "Basic ???", "Basic YQ==", `Bearer ${client_secret}`]) {
        assertRefused(yield* askToken(grant, { authorization }), 401, "invalid_client")
      }
      const json = { "content-type": "application/json" }
      assertRefused(yield* askToken(`{"grant_type":1}`, json), 400, "invalid_request")
    })
  )

  it.effect("rejects other methods and pages of other origins", () =>
    Effect.gen(function* () {
      const { client_id, client_secret } = yield* createServiceAccount(yield* signUp())
      const wrong = yield* ask("GET", "/v1/auth/token")
      assert.strictEqual(statusAndError(wrong), "405 method_not_allowed")
      const foreign = yield* askToken(grant, {
        ...basic(client_id, client_secret),
        origin: "https://elsewhere.example"
      })
      assert.strictEqual(statusAndError(foreign), "403 origin_refused")
    })
  )
})
