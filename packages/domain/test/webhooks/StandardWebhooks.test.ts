import {
  equalInConstantTime,
  findVerificationProblem,
  type WebhookMessage,
  parseSigningSecret,
  parseRecentTimestamp,
  type ReceivedMessage,
  computeSignature,
  signedContent
} from "@scheduling/domain/webhooks/StandardWebhooks"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { createHmac } from "node:crypto"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const other = `whsec_${Buffer.alloc(64, 7).toString("base64")}`

const published = {
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: 1614265330,
  body: `{"test": 2432232314}`
}
const publishedSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

const byHand = (message: typeof published, whsec: string) =>
  "v1," +
  createHmac("sha256", Buffer.from(whsec.slice("whsec_".length), "base64"))
    .update(`${message.id}.${message.timestamp}.${message.body}`)
    .digest("base64")

const received = (fields: Partial<ReceivedMessage> = {}): ReceivedMessage => ({
  id: published.id,
  timestamp: String(published.timestamp),
  signature: publishedSignature,
  body: published.body,
  ...fields
})

const sign = (message: WebhookMessage, whsec: string) =>
  Effect.promise(() => {
    const key = parseSigningSecret(whsec)
    assert.isDefined(key)
    return computeSignature(signedContent(message), key)
  })

describe("a signature", () => {
  it.effect("is the one that Standard Webhooks publishes", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* sign(published, secret), publishedSignature)
    })
  )

  it.effect.prop(
    "agrees with node:crypto for any body",
    [Schema.String, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4e9 }))],
    ([body, timestamp]) =>
      Effect.gen(function* () {
        const message = { id: "msg_1", timestamp, body }
        assert.strictEqual(yield* sign(message, other), byHand(message, other))
        const bytes = new TextEncoder().encode(body)
        assert.strictEqual(yield* sign({ ...message, body: bytes }, other), byHand(message, other))
      })
  )
})

describe("the text of a secret", () => {
  it.each([
    ["", false],
    ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", false],
    ["whsec_", false],
    ["whsec_not base64", false],
    [`whsec_${Buffer.alloc(23).toString("base64")}`, false],
    [`whsec_${Buffer.alloc(24).toString("base64")}`, true],
    [`whsec_${Buffer.alloc(64).toString("base64")}`, true],
    [`whsec_${Buffer.alloc(65).toString("base64")}`, false]
  ])("%j is a key: %s", (text, valid) => {
    assert.strictEqual(parseSigningSecret(text) !== undefined, valid)
  })
})

const problemOf = (message: ReceivedMessage, secrets: ReadonlyArray<string>) =>
  Effect.promise(() =>
    findVerificationProblem(message, secrets, { nowSeconds: published.timestamp })
  )

describe("verification", () => {
  it.effect("accepts any of the signatures made with any of the secrets", () =>
    Effect.gen(function* () {
      const accepted = [
        received(),
        received({ signature: `v1a,abc v1,AAAA ${publishedSignature}` }),
        received({ body: new TextEncoder().encode(published.body) })
      ]
      for (const message of accepted) assert.isUndefined(yield* problemOf(message, [other, secret]))
    })
  )

  it.effect.each([
    ["another body", received({ body: `{"test": 2432232315}` }), "no_matching_signature"],
    ["another id", received({ id: "msg_other" }), "no_matching_signature"],
    ["another time", received({ timestamp: "1614265331" }), "no_matching_signature"],
    ["no signature", received({ signature: "" }), "no_matching_signature"],
    [
      "a cut signature",
      received({ signature: publishedSignature.slice(0, -1) }),
      "no_matching_signature"
    ],
    [
      "another version",
      received({ signature: publishedSignature.replace("v1,", "v2,") }),
      "no_matching_signature"
    ],
    ["a time that is no number", received({ timestamp: "1e9" }), "malformed_timestamp"],
    ["an old message", received({ timestamp: "1614265029" }), "timestamp_too_old"],
    ["a message from the future", received({ timestamp: "1614265631" }), "timestamp_too_new"]
  ] as const)("refuses %s", ([, message, reason]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* problemOf(message, [secret]), reason)
    })
  )

  it.effect("rejects a secret that is none", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* problemOf(received(), ["whsec_abc"]), "malformed_secret")
    })
  )
})

it("the tolerance includes both of its ends", () => {
  assert.strictEqual(parseRecentTimestamp("1000", 1300), 1000)
  assert.strictEqual(parseRecentTimestamp("1000", 700), 1000)
  assert.strictEqual(parseRecentTimestamp("1000", 1301), "timestamp_too_old")
  assert.strictEqual(parseRecentTimestamp("1000", 1001, 0), "timestamp_too_old")
})

it("strings are compared in constant time", () => {
  assert.isTrue(equalInConstantTime("v1,abc", "v1,abc"))
  assert.isTrue(equalInConstantTime("", ""))
  for (const candidate of ["", "v1,ab", "v1,abcd", "v1,abd", "v1,abc\u0000"]) {
    assert.isFalse(equalInConstantTime("v1,abc", candidate))
    assert.isFalse(equalInConstantTime(candidate, "v1,abc"))
  }
})
