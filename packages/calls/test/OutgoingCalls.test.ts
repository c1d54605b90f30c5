import { OutgoingCalls } from "../src/OutgoingCalls.ts"
import type { CallRequest } from "../src/CallRequest.ts"
import { deriveReceiverSecret, receiverKeys, type Signing, signWithKeys } from "../src/signing.ts"
import { parseRetryAfter } from "../src/parseRetryAfter.ts"
import { callLayer, callRequest, httpTarget, signingSecret } from "./support/CallTargets.ts"
import { sign } from "./support/sign.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"

const otherSecret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`

interface Seen {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Responds with 200 and a description of the received request. */
const mirror = Effect.gen(function* () {
  const seen: Array<Seen> = []
  const read = async (request: IncomingMessage) =>
    seen.push({
      method: request.method,
      path: request.url,
      headers: request.headers,
      body: await text(request)
    })
  const port = yield* httpTarget((request, response) => {
    void read(request).then(() => response.end("done"))
  })
  return { url: `http://127.0.0.1:${port}/hook?a=b`, seen }
})

const answering = (
  status: number,
  headers: Record<string, string> = {},
  body: string | Buffer = ""
) =>
  httpTarget((_, response) => {
    response.writeHead(status, headers).end(body)
  })

const origin = "https://api.example.com"

const callsWith = (...secrets: ReadonlyArray<string>): Signing => ({
  purpose: "call",
  secrets: secrets.map((value) => Redacted.make(value))
})

const derived = (
  secrets: ReadonlyArray<string>,
  at: string,
  purpose: Signing["purpose"] = "call"
): ReadonlyArray<string> =>
  secrets.map((value) => Option.getOrThrow(deriveReceiverSecret(Redacted.make(value), purpose, at)))

describe("the request", () => {
  it.effect(
    "has the body, the headers of the user and the service, and a signature with each secret",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(1_614_265_330_999)
        const { seen, url } = yield* mirror
        const call = yield* OutgoingCalls
        const request = callRequest(url, {
          body: `{"name":"Zoë"}`,
          headers: { "X-Custom": "a\tb", Authorization: "Bearer t" },
          signing: callsWith(signingSecret, otherSecret)
        })
        const result = yield* call.run(request)
        assert.deepInclude(result, {
          status_code: 200,
          response_body: "done",
          error: null,
          retry_after_seconds: null,
          outcome: "success"
        })
        const headers = { ...seen[0]?.headers }
        for (const name of ["host", "connection"]) delete headers[name]
        assert.deepStrictEqual(headers, {
          "x-custom": "a\tb",
          authorization: "Bearer t",
          "accept-encoding": "identity",
          "content-length": "15",
          "content-type": "application/json",
          "idempotency-key": request.execution_id,
          "user-agent": "scheduling-service/0.1.0",
          "webhook-id": request.execution_id,
          "webhook-timestamp": "1614265330",
          "webhook-signature": yield* sign(
            { id: request.execution_id, timestamp: 1_614_265_330, body: `{"name":"Zoë"}` },
            derived([signingSecret, otherSecret], new URL(url).origin)
          )
        })
        assert.deepInclude(seen[0], { method: "POST", path: "/hook?a=b", body: `{"name":"Zoë"}` })
      }).pipe(Effect.provide(callLayer()))
  )

  it.live("names the task, the scheduled time and the number of the attempt", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* mirror
      const call = yield* OutgoingCalls
      const id = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d44"
      const task = { id, scheduled_ms: Date.UTC(2026, 0, 31, 9, 30) }
      const request = callRequest(url, { task, attempt: 3 })
      yield* call.run(request)
      assert.deepInclude(seen[0]?.headers, {
        "x-scheduling-task-id": id,
        "x-scheduling-execution-id": request.execution_id,
        "x-scheduling-attempt": "3",
        "x-scheduling-scheduled-for": "2026-01-31T09:30:00.000Z"
      })
    }).pipe(Effect.provide(callLayer()))
  )

  it.live("lets the user replace default headers, in upper or lower case", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* mirror
      const call = yield* OutgoingCalls
      const headers = {
        "USER-AGENT": "mine",
        "Content-Type": "text/plain",
        "Accept-Encoding": "br"
      }
      yield* call.run(callRequest(url, { body: "x", headers }))
      assert.deepInclude(seen[0]?.headers, {
        "user-agent": "mine",
        "content-type": "text/plain",
        "accept-encoding": "br"
      })
    }).pipe(Effect.provide(callLayer()))
  )

  it.live.each([
    ["GET", false],
    ["HEAD", false],
    ["POST", true],
    ["PUT", true],
    ["PATCH", true],
    ["DELETE", true]
  ] as const)("%s sends its body: %s, and signs what it sends", ([method, sent]) =>
    Effect.gen(function* () {
      const { seen, url } = yield* mirror
      const call = yield* OutgoingCalls
      const request = callRequest(url, { method, body: "payload" })
      const result = yield* call.run(request)
      assert.strictEqual(result.outcome, "success")
      assert.deepInclude(seen[0], { method, body: sent ? "payload" : "" })
      const headers: IncomingHttpHeaders = seen[0]?.headers ?? {}
      assert.strictEqual(headers["content-type"], sent ? "application/json" : undefined)
      const message = {
        id: request.execution_id,
        timestamp: Number(headers["webhook-timestamp"]),
        body: sent ? "payload" : ""
      }
      assert.strictEqual(
        headers["webhook-signature"],
        yield* sign(message, derived([signingSecret], new URL(url).origin))
      )
    }).pipe(Effect.provide(callLayer()))
  )

  it.live("signs messages with a different secret than calls, and marks their id", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* mirror
      const call = yield* OutgoingCalls
      const request = callRequest(url, {
        signing: { ...callsWith(signingSecret), purpose: "message" },
        body: "{}"
      })
      yield* call.run(request)
      const headers = seen[0]?.headers ?? {}
      const id = `msg_${request.execution_id}`
      assert.deepInclude(headers, { "webhook-id": id, "idempotency-key": request.execution_id })
      const message = { id, timestamp: Number(headers["webhook-timestamp"]), body: "{}" }
      const { origin: at } = new URL(url)
      const signedWith = (purpose: Signing["purpose"]) =>
        sign(message, derived([signingSecret], at, purpose))
      assert.strictEqual(headers["webhook-signature"], yield* signedWith("message"))
      assert.notStrictEqual(headers["webhook-signature"], yield* signedWith("call"))
    }).pipe(Effect.provide(callLayer()))
  )

  it("derives a different secret for each workspace, origin and purpose", () => {
    const secrets = [signingSecret, otherSecret].flatMap((one) =>
      [
        origin,
        "http://api.example.com",
        "https://api.example.com:8443",
        "https://example.com"
      ].flatMap((at) => [...derived([one], at), ...derived([one], at, "message")])
    )
    assert.lengthOf(new Set([signingSecret, otherSecret, ...secrets]), 18)
    for (const one of secrets) assert.match(one, /^whsec_[A-Za-z0-9+/]{43}=$/)
    // Receivers store these secrets, so they must never change.
    assert.deepStrictEqual(
      [...derived([signingSecret], origin), ...derived([signingSecret], origin, "message")],
      [
        "whsec_FyX46ZiWLzA+tFx6NuTThE88rcSrau0mhQWjFTQvAHs=",
        "whsec_QBdaXza8OUUBMvHZ6iewudobNEuBNQx877uEy0/+i1U="
      ]
    )
  })

  const unsendable: ReadonlyArray<readonly [Partial<CallRequest>, string]> = [
    [{ url: "ftp://127.0.0.1/" }, "url must start with http:// or https://"],
    [{ url: "http://a:b@127.0.0.1/" }, "url must not contain a user name or password"],
    [
      { headers: { "x-a": "1\r\nb: c" } },
      "header x-a must contain only printable ASCII characters"
    ],
    [
      { headers: { Host: "evil" } },
      "header Host is set by the HTTP connection and must be left out"
    ],
    [{ signing: callsWith("whsec_x") }, "the workspace's signing secret is not valid"],
    [
      { signing: callsWith(signingSecret, "whsec_x") },
      "the workspace's signing secret is not valid"
    ],
    [{ signing: callsWith() }, "the workspace's signing secret is not valid"]
  ]

  it.live.each(unsendable)("is not made at all with %j", ([fields, error]) =>
    Effect.gen(function* () {
      const { seen, url } = yield* mirror
      const call = yield* OutgoingCalls
      const result = yield* call.run(callRequest(url, fields))
      assert.deepInclude(result, { status_code: null, outcome: "failed" })
      assert.include(result.error?.message, error)
      assert.lengthOf(seen, 0)
    }).pipe(Effect.provide(callLayer()))
  )

  it.effect.prop(
    "is signed as the domain package defines it",
    [Schema.String, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4e9 }))],
    ([body, timestamp]) =>
      Effect.gen(function* () {
        const message = { id: "019a", timestamp, body }
        const keys = receiverKeys(callsWith(signingSecret, otherSecret), origin)
        assert.strictEqual(
          signWithKeys(message, Option.getOrThrow(keys)),
          yield* sign(message, derived([signingSecret, otherSecret], origin))
        )
      })
  )
})

describe("the result", () => {
  it.live.each([
    [200, "success"],
    [201, "success"],
    [204, "success"],
    [299, "success"],
    [301, "failed"],
    [304, "failed"],
    [307, "failed"],
    [400, "failed"],
    [401, "failed"],
    [404, "failed"],
    [408, "retryable"],
    [410, "failed"],
    [425, "retryable"],
    [429, "retryable"],
    [499, "failed"],
    [500, "retryable"],
    [503, "retryable"],
    [599, "retryable"],
    [600, "failed"]
  ] as const)("of a %s is %s", ([status, outcome]) =>
    Effect.gen(function* () {
      const port = yield* answering(status, { "retry-after": "7" })
      const call = yield* OutgoingCalls
      const result = yield* call.run(callRequest(`http://127.0.0.1:${port}/`))
      assert.deepInclude(result, {
        status_code: status,
        outcome,
        retry_after_seconds: outcome === "retryable" ? 7 : null
      })
    }).pipe(Effect.provide(callLayer()))
  )

  const now = Date.UTC(2015, 9, 21, 7, 28, 0)

  it.each([
    [null, null],
    ["", null],
    ["0", 0],
    ["120", 120],
    [" 120 ", 120],
    ["3600", 3600],
    ["3601", 3600],
    ["9".repeat(400), 3600],
    ["-1", null],
    ["1.5", null],
    ["1e3", null],
    ["soon", null],
    ["Wed, 21 Oct 2015 07:28:30 GMT", 30],
    ["Wednesday, 21-Oct-15 07:29:00 GMT", 60],
    ["Wed Oct 21 07:28:10 2015", 10],
    ["Wed, 21 Oct 2015 07:00:00 GMT", 0],
    ["Thu, 22 Oct 2015 07:28:00 GMT", 3600],
    ["Wed, 99 Oct 2015 07:28:00 GMT", null],
    ["2015-10-21T07:28:30Z", null]
  ])("after Retry-After %j waits %s s", (header, seconds) => {
    assert.strictEqual(parseRetryAfter(header, now), seconds)
  })
})

describe("the response's body", () => {
  const bodies: ReadonlyArray<readonly [string, Buffer, string]> = [
    ["of exactly 10,000 bytes is whole", Buffer.alloc(10_000, "a"), "a".repeat(10_000)],
    ["is cut after 10,000 bytes", Buffer.alloc(10_001, "a"), "a".repeat(10_000)],
    [
      "is cut before a character that does not fit",
      Buffer.from("a" + "ä".repeat(6_000)),
      "a" + "ä".repeat(4_999)
    ],
    [
      "is cut before a surrogate pair that does not fit",
      Buffer.from("abc" + "😀".repeat(3_000)),
      "abc" + "😀".repeat(2_499)
    ],
    ["loses NUL, which PostgreSQL cannot hold", Buffer.from("a\0b\0"), "ab"],
    ["marks bytes that are not UTF-8", Buffer.from([0x61, 0xff, 0xc3]), "a\ufffd\ufffd"],
    ["may be empty", Buffer.alloc(0), ""]
  ]

  it.live.each(bodies)("%s", ([, sent, kept]) =>
    Effect.gen(function* () {
      const port = yield* answering(200, {}, sent)
      const call = yield* OutgoingCalls
      const result = yield* call.run(callRequest(`http://127.0.0.1:${port}/`))
      assert.deepInclude(result, { outcome: "success", response_body: kept })
    }).pipe(Effect.provide(callLayer()))
  )

  it.live("of up to 64 KiB is read to its end, so that the connection serves the next call", () =>
    Effect.gen(function* () {
      const ports = new Set<number | undefined>()
      const port = yield* httpTarget((request, response) => {
        ports.add(request.socket.remotePort)
        response.end(Buffer.alloc(request.url === "/small" ? 64 * 1024 : 65 * 1024, "a"))
      })
      const call = yield* OutgoingCalls
      const run = (path: string) => call.run(callRequest(`http://127.0.0.1:${port}${path}`))
      yield* run("/small")
      yield* run("/small")
      assert.strictEqual(ports.size, 1)
      yield* run("/large")
      yield* run("/large")
      assert.strictEqual(ports.size, 2)
    }).pipe(Effect.provide(callLayer()))
  )
})
