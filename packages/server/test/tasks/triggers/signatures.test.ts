import { assert, layer } from "@effect/vitest"
import { Effect, Struct } from "effect"
import { TestClock } from "effect/testing"
import { statusAndError } from "../../support/http.ts"
import { testAppLayer, testNow } from "../../support/TestApp.ts"
import { runsOf } from "../cron/tasks.ts"
import { setUpTrigger, type TriggerRequest, type Sender, senders } from "./triggers.ts"

const now = testNow / 1_000
const body = JSON.stringify({ id: "evt_1", event_id: "Ev1", amount: 100 })
const otherBody = JSON.stringify({ id: "evt_2", event_id: "Ev2", amount: 999 })

type Forgery = readonly [name: string, delivery: TriggerRequest]

const signed = (sender: Sender, seconds = now, secret?: string): TriggerRequest => ({
  body,
  headers: senders[sender].sign(body, { seconds, ...(secret !== undefined && { secret }) })
})

/** Replaces one header, or removes it. */
const withHeader = (
  { body, headers }: TriggerRequest,
  name: string,
  value?: string
): TriggerRequest => ({
  body,
  headers: { ...Struct.omit(headers, [name]), ...(value !== undefined && { [name]: value }) }
})

/** The header that contains each sender's signature. */
const signatureHeader = {
  standard_webhooks: "webhook-signature",
  github: "x-hub-signature-256",
  stripe: "stripe-signature",
  slack: "x-slack-signature"
} as const

const forgeriesOf = (sender: Sender): ReadonlyArray<Forgery> => {
  const valid = signed(sender)
  const name = signatureHeader[sender]
  const given = valid.headers[name] ?? ""
  const others = (Object.keys(senders) as ReadonlyArray<Sender>).filter((one) => one !== sender)
  return [
    ["without a signature", withHeader(valid, name)],
    ["with an empty signature", withHeader(valid, name, "")],
    ["with a truncated signature", withHeader(valid, name, given.slice(0, -2))],
    ["with a longer signature", withHeader(valid, name, `${given}0`)],
    ["with a signature in capitals", withHeader(valid, name, given.toUpperCase())],
    ["with the body of another event", { ...valid, body: otherBody }],
    ["with an appended space", { ...valid, body: `${body} ` }],
    [
      "signed with another secret",
      signed(sender, now, sender === "standard_webhooks" ? `whsec_${"A".repeat(32)}` : "wrong one")
    ],
    ...others.map((one): Forgery => [`signed as by ${one}`, signed(one)])
  ]
}

const lateOf = (sender: Exclude<Sender, "github">): ReadonlyArray<Forgery> => {
  const fresh = signed(sender)
  const old = signed(sender, now - 301)
  const timestamp = Object.keys(fresh.headers).find((name) => name.endsWith("timestamp"))
  return [
    ["signed five minutes ago", old],
    ["signed a day ago", signed(sender, now - 86_400)],
    ["signed in the future", signed(sender, now + 301)],
    ["signed in milliseconds", signed(sender, testNow)],
    [
      "signed long ago, with a new time",
      timestamp === undefined
        ? withHeader(
            old,
            "stripe-signature",
            String(old.headers["stripe-signature"]).replace(/t=\d+/, `t=${now}`)
          )
        : withHeader(old, timestamp, String(now))
    ],
    [
      "without a time",
      timestamp === undefined
        ? withHeader(
            fresh,
            "stripe-signature",
            String(fresh.headers["stripe-signature"]).replace(/t=\d+,/, "")
          )
        : withHeader(fresh, timestamp)
    ]
  ]
}

const refused: ReadonlyArray<readonly [Sender, ReadonlyArray<Forgery>]> = [
  ["standard_webhooks", [...forgeriesOf("standard_webhooks"), ...lateOf("standard_webhooks")]],
  ["github", forgeriesOf("github")],
  ["stripe", [...forgeriesOf("stripe"), ...lateOf("stripe")]],
  ["slack", [...forgeriesOf("slack"), ...lateOf("slack")]]
]

layer(testAppLayer())("a trigger URL whose requests must be signed", (it) => {
  it("is tried with more than 40 forged and late requests", () => {
    assert.isAbove(refused.flatMap(([, forgeries]) => forgeries).length, 40)
  })

  for (const [sender, forgeries] of refused) {
    it.effect(`rejects ${forgeries.length} forged and late requests of ${sender}`, () =>
      Effect.gen(function* () {
        const { send, task } = yield* setUpTrigger(sender)
        for (const [name, delivery] of forgeries) {
          assert.strictEqual(statusAndError(yield* send(delivery)), "400 invalid_signature", name)
        }
        assert.isEmpty(yield* runsOf(task.id))
        assert.strictEqual((yield* send(signed(sender))).status, 202)
        assert.lengthOf(yield* runsOf(task.id), 1)
      })
    )

    it.effect(`runs an event of ${sender} once, however often it is sent`, () =>
      Effect.gen(function* () {
        const { send, task } = yield* setUpTrigger(sender)
        const first = yield* send(signed(sender))
        assert.strictEqual(first.status, 202)
        yield* TestClock.adjust("2 minutes")
        // An attacker who copies a request can change what is not signed, and senders sign each
        // retry again.
        const retries = [
          signed(sender),
          withHeader(signed(sender), "x-github-delivery", "another"),
          withHeader(signed(sender), "x-slack-retry-num", "1"),
          signed(sender, now + 120)
        ]
        for (const retry of retries) {
          const again = yield* send(retry)
          assert.deepStrictEqual([again.status, again.body], [202, first.body])
          assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
        }
        assert.lengthOf(yield* runsOf(task.id), 1)
        yield* TestClock.adjust("4 minutes")
        const late = yield* send(signed(sender))
        assert.strictEqual(late.status, sender === "github" ? 202 : 400)
        assert.lengthOf(yield* runsOf(task.id), 1)
        const other = senders[sender].sign(otherBody, { seconds: now + 360, id: "msg_2" })
        assert.strictEqual((yield* send({ body: otherBody, headers: other })).status, 202)
        assert.lengthOf(yield* runsOf(task.id), 2)
      })
    )
  }

  it.effect("accepts one valid signature among several, as during a rotation", () =>
    Effect.gen(function* () {
      const stripe = yield* setUpTrigger("stripe")
      const delivery = signed("stripe")
      const given = String(delivery.headers["stripe-signature"])
      const several = given.replace(",v1=", `,v1=${"0".repeat(64)},v0=1,v1=`)
      const answer = yield* stripe.send(withHeader(delivery, "stripe-signature", several))
      assert.strictEqual(answer.status, 202)
      const standard = yield* setUpTrigger("standard_webhooks")
      const signature = String(signed("standard_webhooks").headers["webhook-signature"])
      const both = withHeader(
        signed("standard_webhooks"),
        "webhook-signature",
        `v1,AAAA ${signature} v1a,BBBB`
      )
      assert.strictEqual((yield* standard.send(both)).status, 202)
    })
  )

  it.effect("accepts the published sample of GitHub", () =>
    Effect.gen(function* () {
      const { send } = yield* setUpTrigger("github")
      const { status } = yield* send({
        body: "Hello, World!",
        headers: {
          "content-type": "text/plain",
          "x-hub-signature-256":
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        }
      })
      assert.strictEqual(status, 202)
    })
  )

  it.effect("answers the checks of the URL by GitHub and Slack without a run", () =>
    Effect.gen(function* () {
      const github = yield* setUpTrigger("github")
      const zen = JSON.stringify({ zen: "Design for failure.", hook_id: 1 })
      const ping = yield* github.send({
        body: zen,
        headers: { ...senders.github.sign(zen, { seconds: now }), "x-github-event": "ping" }
      })
      assert.strictEqual(ping.status, 200)
      assert.isEmpty(yield* runsOf(github.task.id))
      const slack = yield* setUpTrigger("slack")
      const question = JSON.stringify({ type: "url_verification", challenge: "3eZbrw1a" })
      const answer = yield* slack.send({
        body: question,
        headers: senders.slack.sign(question, { seconds: now })
      })
      assert.deepStrictEqual([answer.status, answer.body], [200, { challenge: "3eZbrw1a" }])
      assert.isEmpty(yield* runsOf(slack.task.id))
    })
  )
})
