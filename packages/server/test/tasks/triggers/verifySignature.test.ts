import { Stripe } from "stripe"
import { describe, expect, it } from "vitest"
import { verifySignature } from "../../../src/tasks/triggers/verifySignature.ts"

/** The samples that the senders publish, each with its own time. */
const samples = [
  {
    // https://github.com/standard-webhooks/standard-webhooks, tests of the libraries
    sender: "standard_webhooks",
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    seconds: 1_614_265_330,
    body: '{"test": 2432232314}',
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    }
  },
  {
    // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
    sender: "github",
    secret: "It's a Secret to Everybody",
    seconds: 1_700_000_000,
    body: "Hello, World!",
    headers: {
      "x-hub-signature-256":
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    }
  },
  {
    // https://docs.slack.dev/authentication/verifying-requests-from-slack
    sender: "slack",
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    seconds: 1_531_420_618,
    body:
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow" +
      "&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner" +
      "&command=%2Fwebhook-collect&text=" +
      "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
      "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    headers: {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    }
  },
  {
    // The event and the secret from the tests of Stripe's library, signed using that library.
    sender: "stripe",
    secret: "whsec_test_secret",
    seconds: 1_700_000_000,
    body: JSON.stringify({ id: "evt_test_webhook", object: "event" }, null, 2),
    headers: {
      "stripe-signature": new Stripe("sk_test_123").webhooks.generateTestHeaderString({
        payload: JSON.stringify({ id: "evt_test_webhook", object: "event" }, null, 2),
        secret: "whsec_test_secret",
        timestamp: 1_700_000_000
      })
    }
  }
] as const

describe.each(samples)("the published sample of $sender", (sample) => {
  const { body, headers, secret, seconds, sender } = sample
  const verifyAt = (offset: number, changes: Partial<{ body: string; secret: string }> = {}) =>
    verifySignature(
      sender,
      changes.secret ?? secret,
      { headers, body: changes.body ?? body },
      (seconds + offset) * 1_000
    )

  it("is accepted within five minutes", () => {
    for (const offset of [-300, 0, 300]) expect(verifyAt(offset)).toBeTypeOf("string")
  })

  it("is rejected later, unless the sender signs no time", () => {
    for (const offset of [-301, 301]) {
      expect(verifyAt(offset) === undefined).toBe(sender !== "github")
    }
  })

  it("is rejected with another body or another secret", () => {
    expect(verifyAt(0, { body: `${body} ` })).toBeUndefined()
    expect(verifyAt(0, { secret: `${secret}x` })).toBeUndefined()
  })
})
