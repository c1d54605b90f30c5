import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type RawResponse, requestText, sendBytes } from "../../support/rawHttp.ts"
import { testAppLayer } from "../../support/TestApp.ts"

const outcome = (answer: RawResponse | undefined) =>
  `${answer?.status} ${answer?.body.detail?.error ?? ""}`.trim()

const json = { "content-type": "application/json" }
const login = "POST /v1/auth/login"
const chunked = { ...json, "transfer-encoding": "chunked" }
const mebibyte = 1024 * 1024

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

layer(testAppLayer())("HTTP as it should not be", (it) => {
  it.effect.each<readonly [name: string, bytes: string, expected?: string]>([
    ["no HTTP at all", "\x00\x01 hello\r\n\r\n"],
    ["a TLS greeting", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a method that nobody knows", requestText("BREW /v1/health")],
    ["a bare line feed", "GET /v1/health HTTP/1.1\nhost: test\n\n"],
    ["a folded header", "GET /v1/health HTTP/1.1\r\nhost: test\r\nx-a: a\r\n b\r\n\r\n"],
    ["a space before the colon", "GET /v1/health HTTP/1.1\r\nhost : test\r\n\r\n"],
    ["a NUL in a header", requestText("GET /v1/health", { "x-a": "a\0b" })],
    ["a space in the path", "GET /v1/he alth HTTP/1.1\r\nhost: test\r\n\r\n"],
    ["both lengths", requestText(login, { ...chunked, "content-length": "5" }, "0\r\n\r\n")],
    [
      "two lengths",
      requestText(login, { ...json, "content-length": "2\r\ncontent-length: 3" }, "{}")
    ],
    ["a negative length", requestText(login, { ...json, "content-length": "-1" })],
    ["a length that is no number", requestText(login, { ...json, "content-length": "2x" }, "{}")],
    ["a coding that is not chunked", requestText(login, { ...json, "transfer-encoding": "gzip" })],
    [
      "chunked twice",
      requestText(login, { ...json, "transfer-encoding": "chunked, chunked" }, "0\r\n\r\n")
    ],
    ["a chunk size that is no number", requestText(login, chunked, "zz\r\n{}\r\n0\r\n\r\n")],
    [
      "a chunk size too big for a number",
      requestText(login, chunked, `${"f".repeat(20)}\r\n{}\r\n`)
    ],
    ["a chunk longer than its size", requestText(login, chunked, "1\r\n{}\r\n0\r\n\r\n")],
    ["a bad chunk after a good one", requestText(login, chunked, `${chunk("{}")}zz\r\n`)],
    ["a tunnel", requestText("CONNECT example.com:443")],
    [
      "headers over 16 KiB",
      requestText("GET /v1/health", { "x-a": "a".repeat(17_000) }),
      "431 headers_too_large"
    ],
    ["a URL over 16 KiB", requestText(`GET /${"a".repeat(17_000)}`), "431 headers_too_large"],
    [
      "too many headers to fit",
      requestText(
        "GET /",
        Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`x-${n}`, "abc"]))
      ),
      "431 headers_too_large"
    ]
  ])("is answered in the one shape and hung up on: %s", ([, bytes, expected]) =>
    Effect.gen(function* () {
      const { answers, isClosed } = yield* sendBytes(Buffer.from(bytes, "latin1"))
      assert.strictEqual(answers.length, 1)
      assert.strictEqual(outcome(answers[0]), expected ?? "400 malformed_request")
      assert.strictEqual(answers[0]?.headers.get("connection"), "close")
      assert.match(answers[0]?.headers.get("x-request-id") ?? "", /^[0-9a-f]{10}-[0-9a-z]+$/)
      assert.isString(answers[0]?.body.detail.message)
      assert.isTrue(isClosed)
    })
  )

  it.effect("may be sent to its end before the client reads that it is rejected", () =>
    Effect.gen(function* () {
      const tooLong = { "x-a": "a".repeat(17_000), "content-length": String(8 * mebibyte) }
      for (const head of [requestText(login, tooLong), requestText("CONNECT example.com:443")]) {
        let sent: Error | null | undefined
        const { answers } = yield* sendBytes(head, {
          afterwards: (socket) => {
            socket.write(Buffer.alloc(8 * mebibyte), (error) => (sent = error ?? null))
          }
        })
        assert.strictEqual(answers.length, 1)
        assert.isNull(sent)
      }
    })
  )

  it.effect("is a 400 without a Host, which HTTP/1.0 does not have", () =>
    Effect.gen(function* () {
      const close = "connection: close\r\n\r\n"
      const without = yield* sendBytes(`GET /v1/health HTTP/1.1\r\nx-request-id: mine\r\n${close}`)
      assert.strictEqual(outcome(without.answers[0]), "400 malformed_request")
      assert.strictEqual(without.answers[0]?.headers.get("x-request-id"), "mine")
      const old = yield* sendBytes("GET /v1/health HTTP/1.0\r\n\r\n")
      assert.strictEqual(old.answers[0]?.status, 200)
    })
  )

  it.effect("gets an HTTP/1.1 response if it offers another protocol", () =>
    Effect.gen(function* () {
      for (const protocol of ["h2c", "websocket"]) {
        const upgrade = { connection: "Upgrade, HTTP2-Settings", upgrade: protocol }
        const { answers } = yield* sendBytes(
          requestText(login, { ...upgrade, ...chunked }, `${chunk("{}")}0\r\n\r\n`),
          {
            afterwards: (socket) => {
              const next = requestText("GET /v1/health", { connection: "close" })
              socket.once("data", () => void socket.write(next))
            }
          }
        )
        assert.deepStrictEqual(answers.map(outcome), ["422 validation_failed", "200"])
      }
    })
  )

  it.effect("may have an unknown Expect header", () =>
    Effect.gen(function* () {
      const { answers } = yield* sendBytes(
        requestText("GET /v1/health", { expect: "a miracle", connection: "close" })
      )
      assert.deepStrictEqual(answers.map(outcome), ["200"])
    })
  )

  it.effect("gets responses in order if it arrives in one piece", () =>
    Effect.gen(function* () {
      const { answers } = yield* sendBytes(
        requestText("GET /v1/ready", { "x-request-id": "1" }) +
          requestText("GET /nothing", { "x-request-id": "2" }) +
          requestText(login, { ...json, "x-request-id": "3", "content-length": "2" }, "{}") +
          requestText("PUT /v1/health", { "x-request-id": "4", "content-length": "3" }, "abc") +
          requestText("GET /v1/health", { "x-request-id": "5", connection: "close" })
      )
      assert.deepStrictEqual(answers.map(outcome), [
        "200",
        "404 not_found",
        "422 validation_failed",
        "405 method_not_allowed",
        "200"
      ])
      assert.deepStrictEqual(
        answers.map(({ headers }) => headers.get("x-request-id")),
        ["1", "2", "3", "4", "5"]
      )
    })
  )

  it.effect("gets `Connection: close` if its chunks are not read", () =>
    Effect.gen(function* () {
      const long = `${chunk("a".repeat(512 * 1024))}0\r\n\r\n`
      const { answers, isClosed } = yield* sendBytes(
        requestText(login, { ...chunked, "content-type": "text/plain" }, long)
      )
      assert.deepStrictEqual(answers.map(outcome), ["415 unsupported_media_type"])
      assert.strictEqual(answers[0]?.headers.get("connection"), "close")
      assert.isTrue(isClosed)
    })
  )

  it.effect("may leave in the middle of it", () =>
    Effect.gen(function* () {
      for (const bytes of [
        "GET /v1/hea",
        requestText(login, { ...json, "content-length": "100" }, "{")
      ]) {
        for (const leave of ["end", "destroy", "resetAndDestroy"] as const) {
          yield* sendBytes(bytes, { afterwards: (socket) => void socket[leave]() })
        }
      }
      const { answers } = yield* sendBytes(requestText("GET /v1/health"), { answers: 1 })
      assert.strictEqual(answers[0]?.status, 200)
    })
  )

  describe("with a body", () => {
    it.effect("that announces too much gets a 413 before a byte of it", () =>
      Effect.gen(function* () {
        for (const expectation of [{}, { expect: "100-continue" }]) {
          for (const length of [mebibyte + 1, 2 ** 53]) {
            const headers = { ...json, ...expectation, "content-length": String(length) }
            const { answers } = yield* sendBytes(requestText(login, headers), { answers: 1 })
            assert.deepStrictEqual(answers.map(outcome), ["413 payload_too_large"])
          }
        }
      })
    )

    it.effect("in chunks is a 413 past 1 MiB, and none up to it", () =>
      Effect.gen(function* () {
        const text = (length: number) => chunk(`"${"a".repeat(length - 2)}"`)
        const whole = yield* sendBytes(requestText(login, chunked, `${text(mebibyte)}0\r\n\r\n`), {
          answers: 1
        })
        assert.deepStrictEqual(whole.answers.map(outcome), ["422 validation_failed"])
        const halves = chunk(" ".repeat(mebibyte / 2)).repeat(2)
        const beyond = yield* sendBytes(requestText(login, chunked, `${halves}${chunk("1")}`), {
          answers: 1
        })
        assert.deepStrictEqual(beyond.answers.map(outcome), ["413 payload_too_large"])
      })
    )

    it.effect("is not waited for without a valid credential", () =>
      Effect.gen(function* () {
        const slow = { ...json, "content-length": "100" }
        const token = { authorization: "Bearer junk" }
        for (const headers of [slow, { ...slow, expect: "100-continue" }, chunked]) {
          const none = yield* sendBytes(requestText("POST /v1/workspaces", headers), { answers: 1 })
          assert.deepStrictEqual(none.answers.map(outcome), ["401 missing_credentials"])
          const junk = yield* sendBytes(
            requestText("POST /v1/workspaces", { ...headers, ...token }),
            {
              answers: 1
            }
          )
          assert.deepStrictEqual(junk.answers.map(outcome), ["401 invalid_token"])
        }
      })
    )

    it.effect("is requested once the rest is valid", () =>
      Effect.gen(function* () {
        const headers = {
          ...json,
          "content-length": "2",
          expect: "100-continue",
          connection: "close"
        }
        const { answers } = yield* sendBytes(requestText(login, headers), {
          afterwards: (socket) => void socket.once("data", () => socket.write("{}"))
        })
        assert.deepStrictEqual(answers.map(outcome), ["100", "422 validation_failed"])
      })
    )
  })
})
