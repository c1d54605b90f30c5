import {
  CallHeaders,
  CallHeadersUpdate,
  headersProblems
} from "@scheduling/domain/calls/CallHeaders"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const accepts = Schema.is(CallHeaders)

const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, "value"]))

describe("CallHeaders", () => {
  it.each([
    [{}],
    [{ Authorization: "Bearer abc", "X-Custom_1": "" }],
    [{ "user-agent": "mine/1.0", "content-type": "text/plain", "accept-encoding": "gzip" }],
    [{ "x-tab": "a\tb" }],
    [{ "X-Token": "•••" }],
    [numbered(50)],
    [{ "x-long": "a".repeat(16 * 1024 - 6) }]
  ])("accepts %j", (headers) => {
    assert.isTrue(accepts(headers))
  })

  it.each([
    [{ "": "a" }],
    [{ "x y": "a" }],
    [{ "x:y": "a" }],
    [{ "x\r\ny": "a" }],
    [{ "x-ümlaut": "a" }],
    [{ "x-a": "a\r\nb: c" }],
    [{ "x-a": "a\nb" }],
    [{ "x-a": "a\u0000" }],
    [{ "x-a": "a\u007f" }],
    [{ "x-a": "ü" }],
    [{ "x-a": "•••" }],
    [{ "x-token": "Bearer •••" }],
    [{ "X-A": "1", "x-a": "2" }],
    [numbered(51)],
    [{ "x-long": "a".repeat(16 * 1024 - 5) }]
  ])("refuses %j", (headers) => {
    assert.isFalse(accepts(headers))
  })

  it.each([
    "Host",
    "content-length",
    "Connection",
    "Transfer-Encoding",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "Proxy-Authorization",
    "proxy-connection",
    "Webhook-Id",
    "webhook-timestamp",
    "webhook-signature",
    "Idempotency-Key",
    "X-Scheduling-Task-Id",
    "x-scheduling-of-tomorrow"
  ])("refuses %s, which is not the user's to set", (name) => {
    assert.isFalse(accepts({ [name]: "a" }))
  })

  it("names every header that is at fault", () => {
    const problems = headersProblems({ host: "a", "x-fine": "b", "x-bad": "c\n" })
    assert.deepStrictEqual(
      problems.map(({ path }) => path),
      [["host"], ["x-bad"]]
    )
  })

  it("is not fooled by a header called __proto__", () => {
    const headers: Record<string, string> = JSON.parse(`{"__proto__": "a\\r\\nb: c"}`)
    assert.lengthOf(headersProblems(headers), 1)
  })

  it("takes the mask in a request, but sends none", () => {
    assert.isTrue(Schema.is(CallHeadersUpdate)({ "x-token": "•••", "x-a": null }))
    assert.lengthOf(headersProblems({ "x-token": "•••" }), 1)
  })
})
