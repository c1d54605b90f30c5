// @tags slow
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isIP } from "node:net"
import { ask, statusAndError, password, randomIp } from "../support/http.ts"
import { SharedAccount } from "../support/SharedAccount.ts"
import { requestText, sendBytes } from "../support/rawHttp.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { type Endpoint, endpoints } from "./support/contract.ts"
import { createOwner } from "./support/createOwner.ts"

/** Names that would end a header, start another header, or be changed in transit. */
const names = [
  "",
  " ",
  "a b",
  "a:",
  ":authority",
  "a\r\nb",
  "a\nb",
  "a\rb",
  "a\u0000",
  "a\tb",
  "a\u007f",
  "é",
  "\u0130",
  "a\u2028",
  "\ud83d\ude00",
  "(a)",
  '"a"',
  "a,b",
  "{a}",
  "Host",
  "CONTENT-LENGTH",
  "Transfer-Encoding",
  "proxy-authorization",
  "webhook-signature",
  "Idempotency-Key"
]

const values = [
  "a\r\nb: c",
  "a\nb: c",
  "a\rb: c",
  "a\r\n b",
  "\r\n\r\nGET / HTTP/1.1",
  "\u0000",
  "a\u000b",
  "\u001b[31m",
  "\u007f",
  "é",
  "\u0100",
  "\u010d\u010a",
  "\u560d\u560a",
  "\u2028",
  "\ufeffa",
  "\ud83d\ude00",
  "\ud800"
]

interface WithHeaders extends Endpoint {
  readonly at: string
  readonly bodyWith: (headers: object) => object
}

/** Every endpoint that accepts headers for calls, each with a valid body. */
const withHeaders = endpoints.flatMap((endpoint): ReadonlyArray<WithHeaders> => {
  const { example, schema } = endpoint
  const fields = Object.keys(Object(schema?.["properties"]))
  const found = (at: string, bodyWith: WithHeaders["bodyWith"]) => [{ ...endpoint, at, bodyWith }]
  if (fields.includes("headers")) {
    return found("headers", (headers) => ({ ...example, headers }))
  }
  // An escalation policy's steps make no calls.
  if (!fields.includes("steps") || endpoint.name === "escalations.upsert") return []
  const step = { name: "a", url: "https://example.com/" }
  return found("steps.0.headers", (headers) => ({ ...example, steps: [{ ...step, headers }] }))
})

const json = { "content-type": "application/json" }

layer(SharedAccount.layer.pipe(Layer.provideMerge(testAppLayer())))("Injection", (it) => {
  it.effect.each(withHeaders)(
    "of headers into calls is rejected when they are given: $name",
    ({ at, bodyWith, method, path }) =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* createOwner
        const token = member.access_token
        const given = [
          ...names.map((name) => ({ [name]: "a" })),
          ...values.map((value) => ({ "x-a": value })),
          { "x-a": "1", "X-A": "2" }
        ]
        for (const headers of given) {
          const answer = yield* ask(method, yield* pathOf({ path }), {
            token,
            body: bodyWith(headers)
          })
          assert.strictEqual(
            statusAndError(answer),
            "422 validation_failed",
            JSON.stringify(headers)
          )
          const [issue] = answer.body.detail.issues
          assert.isTrue(issue.path.join(".").startsWith(at), answer.text)
        }
      })
  )

  it.effect("found every field that contains headers", () =>
    Effect.sync(() =>
      assert.deepStrictEqual(
        withHeaders.map(({ name }) => name),
        [
          "cron.create",
          "cron.upsert",
          "cron.update",
          "delayed.create",
          "delayed.upsert",
          "delayed.update",
          "chains.create",
          "chains.upsert",
          "chains.update",
          "httpMonitors.create",
          "httpMonitors.upsert",
          "httpMonitors.update",
          "httpMonitors.test"
        ]
      )
    )
  )

  describe("by the headers of a request", () => {
    const bytes = [
      ...Array.from({ length: 32 }, (_, code) => `a${String.fromCharCode(code)}b`),
      "\x7f",
      "\x80\x9b31m",
      "\xe9",
      "\xe5\x98\x8d\xe5\x98\x8aset-cookie: a=b",
      "\xed\xa0\x80",
      "\xff\xfe",
      "%0d%0aset-cookie: a=b",
      "a\r\n folded: b",
      "a\r\n\tset-cookie: b",
      "a".repeat(9_000)
    ]

    it.effect.each(["x-request-id", "idempotency-key", "user-agent", "x-forwarded-for"])(
      "such as %s is refused or harmless, whatever its bytes",
      (header) =>
        Effect.gen(function* () {
          const { access_token } = yield* SharedAccount
          const before = yield* sessionsOf(access_token)
          for (const value of bytes) {
            // An empty object is rejected, so nothing is created, however often it is sent.
            const head = requestText("POST /v1/workspaces", {
              ...json,
              authorization: `Bearer ${access_token}`,
              "content-length": "2",
              connection: "close",
              [header]: value
            })
            const { answers, isClosed } = yield* sendBytes(Buffer.from(`${head}{}`, "latin1"))
            assert.isTrue(isClosed)
            assert.isAtLeast(answers.length, 1, JSON.stringify(value))
            for (const { body, headers, status } of answers) {
              assert.include([400, 422, 431], status, JSON.stringify(value))
              assert.isString(body.detail.error)
              assert.match(headers.get("x-request-id") ?? "", /^[A-Za-z0-9._:-]{1,128}$/)
              assert.isFalse(headers.has("set-cookie"))
              assert.isFalse(headers.has("folded"))
            }
          }
          assert.deepStrictEqual(yield* sessionsOf(access_token), before)
        })
    )

    it.effect("keeps the text of a user agent, without half characters", () =>
      Effect.gen(function* () {
        const { email } = yield* SharedAccount
        for (const [sent, shown] of [
          ["curl/8", "curl/8"],
          ["\xe9\xff", "\xe9\xff"],
          ["'; DROP TABLE sessions; --", "'; DROP TABLE sessions; --"],
          ["<script>alert(1)</script>", "<script>alert(1)</script>"],
          ["x".repeat(600), "x".repeat(500)]
        ] as const) {
          const body = JSON.stringify({ email, password })
          const { answers } = yield* sendBytes(
            Buffer.from(
              requestText(
                "POST /v1/auth/login",
                {
                  ...json,
                  "content-length": String(body.length),
                  connection: "close",
                  "user-agent": sent
                },
                body
              ),
              "latin1"
            )
          )
          assert.strictEqual(answers[0]?.status, 200)
          const [newest] = yield* sessionsOf(answers[0]?.body.access_token)
          assert.strictEqual(newest?.user_agent, shown)
        }
      })
    )

    it.effect("accepts only valid addresses as the client's address", () =>
      Effect.gen(function* () {
        const { email, user_id } = yield* SharedAccount
        const sql = yield* SqlClient.SqlClient
        const own = randomIp()
        for (const [forwarded, expected] of [
          [own, own],
          ["2001:db8::7", "2001:db8::7"],
          ["unknown", undefined],
          ["_hidden", undefined],
          ["", undefined],
          [",", undefined],
          ["a, b", undefined],
          [`${own}, evil`, undefined],
          [`evil, ${own}`, own],
          [`' OR 1=1 --, ${own}`, own],
          ["999.999.999.999", undefined],
          ["0x7f.1", undefined],
          ["<b>", undefined],
          ["\xe9", undefined],
          [`${"1.2.3.4, ".repeat(500)}${own}`, own],
          ["x".repeat(5_000), undefined]
        ] as const) {
          const login = yield* ask("POST", "/v1/auth/login", {
            body: { email, password },
            headers: { "x-forwarded-for": forwarded }
          })
          assert.strictEqual(login.status, 200, login.text)
          const [newest] = yield* sessionsOf(login.body.access_token)
          const [event] = yield* sql<{ ip: string | null }>`
            SELECT ip
            FROM audit_events
            WHERE user_id = ${user_id}
            ORDER BY id DESC
            LIMIT 1`
          assert.strictEqual(event?.ip, newest?.ip)
          const { ip = null } = newest ?? {}
          assert.isTrue(ip === null || isIP(ip) !== 0, `${forwarded} became ${ip}`)
          if (expected !== undefined) assert.strictEqual(ip, expected)
          else assert.notStrictEqual(ip, own)
        }
      })
    )
  })
})

interface SeenSession {
  readonly ip: string | null
  readonly user_agent: string | null
}

const sessionsOf = (token: string) =>
  Effect.map(
    ask("GET", "/v1/auth/sessions?limit=100", { token }),
    ({ body }): ReadonlyArray<SeenSession> => body.data
  )
