// @tags slow
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, createKey, statusAndError, signUp, times } from "../support/http.ts"
import { type RawResponse, requestText, sendBytes } from "../support/rawHttp.ts"
import { SharedAccount } from "../support/SharedAccount.ts"
import { testAppLayer } from "../support/TestApp.ts"

const outcomes = (answers: ReadonlyArray<RawResponse>) =>
  answers.map(({ body, status }) => `${status} ${body.detail?.error ?? ""}`.trim())

const json = { "content-type": "application/json" }
const login = "POST /v1/auth/login"
const chunked = { ...json, "transfer-encoding": "chunked" }
const nothing = "0\r\n\r\n"
const health = requestText("GET /v1/health")

const coded = (headers: Readonly<Record<string, string>>) =>
  requestText(login, { ...json, ...headers }, nothing)
const sized = (length: string) => requestText(login, { ...json, "content-length": length }, "{}")
const inChunks = (chunks: string) => requestText(login, chunked, chunks)
const twice = (name: string, first: string, second: string) => ({
  [name]: `${first}\r\n${name}: ${second}`
})

/** Input that the server or a proxy in front of it could parse as either one or two requests. */
const ambiguous: ReadonlyArray<readonly [string, string]> = [
  ["a length before chunks", coded({ "content-length": "5", "transfer-encoding": "chunked" })],
  ["a length after chunks", coded({ "transfer-encoding": "chunked", "content-length": "5" })],
  ["no length and chunks", coded({ "content-length": "0", "transfer-encoding": "chunked" })],
  ["another coding before chunks", coded({ "transfer-encoding": "gzip, chunked" })],
  ["no coding before chunks", coded({ "transfer-encoding": "identity, chunked" })],
  ["chunks before another coding", coded({ "transfer-encoding": "chunked, gzip" })],
  ["a coding by another name", coded({ "transfer-encoding": "xchunked" })],
  ["a coding in quotes", coded({ "transfer-encoding": '"chunked"' })],
  ["a coding with a parameter", coded({ "transfer-encoding": "chunked;q=1" })],
  ["an empty coding", coded({ "transfer-encoding": "" })],
  ["chunks, and then no coding", coded(twice("transfer-encoding", "chunked", "identity"))],
  ["no coding, and then chunks", coded(twice("transfer-encoding", "identity", "chunked"))],
  ["a coding behind a vertical tab", coded({ "transfer-encoding": "\vchunked" })],
  ["a coding on a line of its own", coded({ "transfer-encoding": "\r\n chunked" })],
  ["a coding with a space before the colon", coded({ "transfer-encoding ": "chunked" })],
  ["a length on a line of its own", sized("\r\n 2")],
  ["a length that is empty", sized("")],
  ["a length with a sign", sized("+2")],
  ["a negative length", sized("-2")],
  ["a length in hexadecimal", sized("0x2")],
  ["a length in two parts", sized("2 2")],
  ["a length twice in one header", sized("2, 2")],
  ["a length in two headers", sized("2\r\ncontent-length: 2")],
  ["a length past all numbers", sized("99999999999999999999999")],
  ["a length with a fraction", sized("2.0")],
  ["a line feed that ends a chunk size", inChunks(`2\n{}\r\n${nothing}`)],
  ["a line feed that ends a chunk", inChunks(`2\r\n{}\n${nothing}`)],
  ["a line feed in a chunk extension", inChunks(`2;a\n{}\r\n${nothing}`)],
  ["a line feed that ends the chunks", inChunks("2\r\n{}\r\n0\r\n\n")],
  ["a carriage return that ends the chunks", inChunks("2\r\n{}\r\n0\r\r\n")],
  ["a negative chunk", inChunks(`-2\r\n{}\r\n${nothing}`)],
  ["a chunk size with a sign", inChunks(`+2\r\n{}\r\n${nothing}`)],
  ["a chunk size with a prefix", inChunks(`0x2\r\n{}\r\n${nothing}`)],
  ["a chunk size after a space", inChunks(` 2\r\n{}\r\n${nothing}`)],
  ["a chunk size before a space", inChunks(`2 \r\n{}\r\n${nothing}`)],
  ["a chunk size past 64 bits", inChunks(`${"0".repeat(16)}1${"0".repeat(16)}2\r\n{}\r\n`)],
  ["a chunk that is shorter than its size", inChunks(`3\r\n{}\r\n${nothing}`)],
  ["a chunk extension of 20 kB", inChunks(`2;${"a".repeat(20_000)}\r\n{}\r\n${nothing}`)],
  ["a length after the last chunk", inChunks("2\r\n{}\r\n0\r\ncontent-length: 5\r\n\r\n")],
  ["a bare carriage return in a header", requestText("GET /v1/health", { "x-a": "a\rx-b: b" })],
  ["a bare line feed in a header", requestText("GET /v1/health", { "x-a": "a\nx-b: b" })],
  ["a line feed that ends the headers", "GET /v1/health HTTP/1.1\r\nhost: test\r\n\n"],
  ["a header without a name", requestText("GET /v1/health", { "": "a" })],
  ["a header without a colon", "GET /v1/health HTTP/1.1\r\nhost: test\r\nx-a\r\n\r\n"],
  ["two hosts", requestText("GET /v1/health", { host: "other" })],
  ["two hosts in one", "GET /v1/health HTTP/1.1\r\nhost: a, b\r\n\r\n"],
  ["a host with a path", "GET /v1/health HTTP/1.1\r\nhost: test/v1\r\n\r\n"],
  ["a host with a user", "GET /v1/health HTTP/1.1\r\nhost: user@test\r\n\r\n"],
  ["no host, though its target has one", "GET http://test/v1/health HTTP/1.1\r\n\r\n"],
  ["a target without a path", "GET test:80 HTTP/1.1\r\nhost: test\r\n\r\n"],
  ["HTTP/0.9", "GET /v1/health\r\n\r\n"],
  ["HTTP/1.2", "GET /v1/health HTTP/1.2\r\nhost: test\r\n\r\n"],
  ["HTTP/2.0", "GET /v1/health HTTP/2.0\r\nhost: test\r\n\r\n"],
  ["chunks in HTTP/1.0", `${login} HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n${nothing}`],
  [
    "chunks in HTTP/1.0 that is kept alive",
    `${login} HTTP/1.0\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n${nothing}`
  ],
  ["two hosts in HTTP/1.0", "GET /v1/health HTTP/1.0\r\nhost: a\r\nhost: b\r\n\r\n"]
]

const invalid = "422 validation_failed"

/** Valid but rare input. Each entry is one request, and the next request starts where it ends. */
const unusual: ReadonlyArray<readonly [string, string, string]> = [
  ["zeros before a length", sized("002"), invalid],
  ["spaces and a tab around a length", sized(" 2\t "), invalid],
  ["no length in a GET", requestText("GET /v1/health", { "content-length": "0" }), "200"],
  ["a GET with a body", requestText("GET /v1/health", { "content-length": "2" }, "{}"), invalid],
  [
    "a body that looks like a request",
    requestText(login, sizedAs(health), health),
    "400 malformed_json"
  ],
  ["a coding in capitals", coded({ "TRANSFER-ENCODING": "Chunked" }), invalid],
  ["a coding behind a tab", coded({ "transfer-encoding": "\tchunked" }), invalid],
  ["zeros before a chunk size", inChunks(`0002\r\n{}\r\n${nothing}`), invalid],
  ["a chunk extension", inChunks(`2;a=b;c="d"\r\n{}\r\n${nothing}`), invalid],
  ["a header after the last chunk", inChunks("2\r\n{}\r\n0\r\nx-a: b\r\n\r\n"), invalid],
  [
    "a length with an underscore, which is none",
    requestText(login, { content_length: "9" }),
    invalid
  ],
  ["a target with a host", "GET http://other/v1/health HTTP/1.1\r\nhost: test\r\n\r\n", "200"],
  ["a host that is empty", "GET /v1/health HTTP/1.1\r\nhost:\r\n\r\n", "200"],
  ["a host that is an address", "GET /v1/health HTTP/1.1\r\nhost: [::1]:80\r\n\r\n", "200"],
  ["the target *", requestText("OPTIONS *"), "404 not_found"],
  ["a method to override", requestText(login, { "x-http-method-override": "GET" }), invalid],
  ["empty lines before it", `\r\n\r\n${health}`, "200"],
  [
    "HTTP/1.0 that is kept alive",
    "GET /v1/health HTTP/1.0\r\nconnection: keep-alive\r\n\r\n",
    "200"
  ],
  ["an offer of another protocol", requestText("GET /v1/health", offer("websocket")), "200"],
  [
    "an offer with a body",
    requestText(login, { ...json, ...offer("h2c"), "content-length": "2" }, "{}"),
    invalid
  ],
  [
    "a body that nobody reads",
    requestText("POST /v1/workspaces", { "content-length": "2" }, "{}"),
    "401 missing_credentials"
  ]
]

/**
 * Valid input that is answered before all of it has arrived, so the server does not know its
 * length.
 */
const unread: typeof unusual = [
  ["a GET with chunks", requestText("GET /v1/health", chunked, nothing), invalid],
  [
    "chunks that nobody reads",
    requestText("POST /v1/workspaces", chunked, `2\r\n{}\r\n${nothing}`),
    "401 missing_credentials"
  ]
]

function sizedAs(body: string) {
  return { ...json, "content-length": String(body.length) }
}

function offer(protocol: string) {
  return { connection: "Upgrade", upgrade: protocol }
}

layer(SharedAccount.layer.pipe(Layer.provideMerge(testAppLayer())))("HTTP", (it) => {
  describe("that may be two requests", () => {
    it.effect("gets one response, and the rest is not executed", () =>
      Effect.gen(function* () {
        const { access_token } = yield* SharedAccount
        const body = JSON.stringify({ name: "smuggled" })
        const smuggled = requestText(
          "POST /v1/workspaces",
          { ...sizedAs(body), authorization: `Bearer ${access_token}` },
          body
        )
        for (const [what, bytes] of ambiguous) {
          const { answers, isClosed } = yield* sendBytes(Buffer.from(bytes + smuggled, "latin1"))
          assert.deepStrictEqual(outcomes(answers), ["400 malformed_request"], what)
          assert.strictEqual(answers[0]?.headers.get("connection")?.toLowerCase(), "close", what)
          assert.isTrue(isClosed, what)
        }
        const { body: list } = yield* ask("GET", "/v1/workspaces", { token: access_token })
        assert.strictEqual(list.data.length, 1)
        // Sent separately, the smuggled request has an effect.
        const { answers } = yield* sendBytes(smuggled, { answers: 1 })
        assert.deepStrictEqual(outcomes(answers), ["201"])
      })
    )

    it.effect.each(unusual)("is one request, if it is valid: %s", ([, bytes, expected]) =>
      Effect.gen(function* () {
        const { answers } = yield* sendBytes(bytes + requestText("GET /v1/whoami"), { answers: 2 })
        assert.deepStrictEqual(outcomes(answers), [expected, "401 missing_credentials"])
      })
    )

    it.effect.each(unread)(
      "is the last on its connection, and the response says so: %s",
      ([, bytes, expected]) =>
        Effect.gen(function* () {
          const { answers, isClosed } = yield* sendBytes(bytes + requestText("GET /v1/whoami"), {
            answers: 2
          })
          assert.deepStrictEqual(outcomes(answers), [expected])
          assert.strictEqual(answers[0]?.headers.get("connection"), "close")
          assert.isTrue(isClosed)
        })
    )
  })

  describe("in one piece", () => {
    it.effect("get their own responses, in order", () =>
      Effect.gen(function* () {
        const [ada, bob] = [yield* SharedAccount, yield* signUp()]
        const key = yield* createKey(bob)
        const senders = [
          [ada.access_token, `200 ${ada.user_id}`],
          [key.key, `200 ${bob.workspace_id}`],
          [undefined, "401 missing_credentials"],
          [bob.access_token, `200 ${bob.user_id}`],
          [`${ada.access_token.slice(0, -4)}AAAA`, "401 invalid_token"],
          [`pak_${"A".repeat(43)}`, "401 invalid_api_key"]
        ] as const
        const sent = times(60, (index) => senders[(index * 7 + (index >> 2)) % senders.length]!)
        const pieces = sent.map(([token]) =>
          requestText(
            "GET /v1/whoami",
            token === undefined ? {} : { authorization: `Bearer ${token}` }
          )
        )
        const { answers } = yield* sendBytes(pieces.join(""), { answers: sent.length })
        assert.deepStrictEqual(
          answers.map(
            ({ body, status }) =>
              `${status} ${body.user?.id ?? body.workspace_id ?? body.detail.error}`
          ),
          sent.map(([, expected]) => expected)
        )
      })
    )

    describe("and end in", () => {
      const me = (token: string, more: Readonly<Record<string, string>> = {}) =>
        requestText("GET /v1/auth/me", { authorization: `Bearer ${token}`, ...more })

      it.effect.each<readonly [string, string]>([
        ["what is no request", "\0nonsense\r\n\r\n"],
        ["a tunnel", requestText("CONNECT test:443")],
        ["a body that breaks off", inChunks("2\r\n{}\r\nzz\r\n")],
        ["a request that may be two", coded({ "transfer-encoding": "gzip, chunked" })]
      ])("%s are answered before it is refused", ([, end]) =>
        Effect.gen(function* () {
          const { access_token, user_id } = yield* SharedAccount
          const { answers, isClosed } = yield* sendBytes(me(access_token).repeat(3) + end)
          assert.deepStrictEqual(
            answers.map(({ body }) => body.id ?? body.detail.error),
            [user_id, user_id, user_id, "malformed_request"]
          )
          assert.isTrue(isClosed)
        })
      )

      it.effect("one that closes the connection get no further responses", () =>
        Effect.gen(function* () {
          const { access_token } = yield* SharedAccount
          const { answers } = yield* sendBytes(me(access_token, { connection: "close" }) + health)
          assert.deepStrictEqual(outcomes(answers), ["200"])
        })
      )

      it.effect("an offer of another protocol continue after it", () =>
        Effect.gen(function* () {
          const { access_token } = yield* SharedAccount
          const pieces = [
            me(access_token),
            me(access_token, offer("h2c")),
            requestText("GET /nothing", offer("websocket")),
            health
          ]
          const { answers } = yield* sendBytes(pieces.join("").repeat(10), { answers: 40 })
          assert.deepStrictEqual(
            outcomes(answers),
            times(10, () => ["200", "200", "404 not_found", "200"]).flat()
          )
        })
      )

      it.effect("an offer whose body comes later are not read from its middle", () =>
        Effect.gen(function* () {
          const { answers } = yield* sendBytes(
            requestText(login, { ...offer("h2c"), ...sizedAs(health) }) + health.slice(0, 4),
            {
              answers: 2,
              afterwards: (socket) =>
                void setImmediate(() =>
                  socket.write(health.slice(4) + requestText("GET /v1/whoami"))
                )
            }
          )
          assert.deepStrictEqual(outcomes(answers), [
            "400 malformed_json",
            "401 missing_credentials"
          ])
        })
      )

      it.effect("an endless body get responses, and the endless one does not", () =>
        Effect.gen(function* () {
          const { access_token } = yield* SharedAccount
          const { answers } = yield* sendBytes(
            me(access_token) + requestText(login, { ...json, "content-length": "100" }, "{"),
            { afterwards: (socket) => void socket.end() }
          )
          assert.deepStrictEqual(outcomes(answers).slice(0, 1), ["200"])
          assert.notInclude(outcomes(answers.slice(1)).join(), invalid)
          const again = yield* ask("GET", "/v1/auth/me", { token: access_token })
          assert.strictEqual(statusAndError(again), "200")
        })
      )
    })
  })
})
