import { webhooks } from "@scheduling/sdk"
import {
  testHeaders,
  unwrap,
  verify,
  WebhookVerificationError,
  type WebhookHeaders
} from "@scheduling/sdk/webhooks"
import { createHmac } from "node:crypto"
import { describe, expect, it } from "vitest"

// The example published in the Standard Webhooks specification.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
const payload = `{"test": 2432232314}`
const sentAt = new Date(1614265330 * 1000)
const headers = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
}
// The Standard Webhooks example belongs to no execution of this service.
const event = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", executionId: null, sentAt }
const options = { now: sentAt }

describe("verify accepts", () => {
  it.each<[string, WebhookHeaders]>([
    ["a record", headers],
    ["Headers", new Headers(headers)],
    [
      "names in any case",
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])
      )
    ],
    [
      "the lists of some frameworks",
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
    ]
  ])("%s", async (_, given) => {
    expect(await verify(payload, given, secret, options)).toEqual(event)
  })

  it.each([
    ["text", payload],
    ["a Buffer", Buffer.from(payload)],
    ["an ArrayBuffer", new TextEncoder().encode(payload).buffer]
  ])("a body that is %s", async (_, given) => {
    expect(await verify(given, headers, secret, options)).toEqual(event)
  })

  it.each([
    ["undefined, of Express 5", undefined],
    ["{}, of Express 4", {} as unknown as undefined],
    ["null, of a Request without a body", null as unknown as undefined]
  ])("a call without a body, whose body is %s", async (_, absent) => {
    const given = await testHeaders({ payload: "", secret, executionId: "e1" })
    expect(await verify(absent, given, secret)).toHaveProperty("executionId", "e1")
  })

  it("either secret while they rotate", async () => {
    expect(await verify(payload, headers, [other, secret], options)).toEqual(event)
    const both = { ...headers, "webhook-signature": `v1,AAAA ${headers["webhook-signature"]}` }
    expect(await verify(payload, both, secret, options)).toEqual(event)
  })

  it("bytes that are not text", async () => {
    const bytes = Uint8Array.of(0xff, 0xfe, 0x00, 0x80)
    const given = await testHeaders({ payload: bytes, secret })
    await verify(bytes, given, secret)
    await expect(verify(new TextDecoder().decode(bytes), given, secret)).rejects.toMatchObject({
      reason: "no_matching_signature"
    })
  })
})

describe("verify rejects", () => {
  const at = (seconds: number) => ({ now: new Date(sentAt.getTime() + seconds * 1000) })
  const without = (name: string) =>
    Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name))

  it.each([
    ["another body", `${payload} `, headers, secret, options, "no_matching_signature"],
    ["another secret", payload, headers, other, options, "no_matching_signature"],
    [
      "another id",
      payload,
      { ...headers, "webhook-id": "x" },
      secret,
      options,
      "no_matching_signature"
    ],
    ["no id", payload, without("webhook-id"), secret, options, "missing_header"],
    ["no timestamp", payload, without("webhook-timestamp"), secret, options, "missing_header"],
    ["no signature", payload, without("webhook-signature"), secret, options, "missing_header"],
    [
      "a repeated header",
      payload,
      { ...headers, "webhook-id": [headers["webhook-id"], "x"] },
      secret,
      options,
      "missing_header"
    ],
    [
      "an invalid timestamp",
      payload,
      { ...headers, "webhook-timestamp": "now" },
      secret,
      options,
      "malformed_timestamp"
    ],
    ["a replay", payload, headers, secret, at(301), "timestamp_too_old"],
    ["the future", payload, headers, secret, at(-301), "timestamp_too_new"],
    [
      "an age above the tolerance",
      payload,
      headers,
      secret,
      { ...at(6), tolerance: 5 },
      "timestamp_too_old"
    ],
    ["a secret that is none", payload, headers, "whsec_abc", options, "malformed_secret"]
  ] as const)("%s", async (_, body, given, key, when, reason) => {
    const error = await verify(body, given, key, when).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(WebhookVerificationError)
    expect(error).toMatchObject({ reason, name: "WebhookVerificationError" })
  })

  it.each([0, -1, Number.NaN])("a tolerance of %d seconds", async (tolerance) => {
    const refused = verify(payload, headers, secret, { ...options, tolerance })
    await expect(refused).rejects.toMatchObject({
      name: "SchedulingError",
      message: "tolerance must be a number of seconds above 0"
    })
  })

  it.each([[undefined], [[]], [[undefined]], [[secret, undefined]]])(
    "secrets that are not set: %j",
    async (secrets) => {
      const unset = secrets as unknown as string
      await expect(verify(payload, headers, unset, options)).rejects.toMatchObject({
        reason: "malformed_secret"
      })
    }
  )

  it.each([
    ["nothing", undefined],
    ["an empty object", {}],
    ["an object of its own kind", Object.create(null)]
  ])("%s in place of a body that was sent, and says so", async (_, absent) => {
    await expect(verify(absent as undefined, headers, secret, options)).rejects.toMatchObject({
      reason: "parsed_payload"
    })
  })

  it.each([
    ["a stream", new ReadableStream()],
    ["a Map", new Map()],
    ["an array", []],
    ["a Blob", new Blob([payload])],
    ["an object with a hidden field", Object.defineProperty({}, "a", { value: 1 })]
  ])("%s, which is not an absent body", async (_, given) => {
    const signed = await testHeaders({ payload: "", secret })
    await expect(verify(given as never, signed, secret)).rejects.toMatchObject({
      reason: "parsed_payload"
    })
  })

  it("a body that a framework has parsed, with an explanation", async () => {
    const parsed = JSON.parse(payload) as string
    await expect(verify(parsed, headers, secret, options)).rejects.toThrow(/not the raw body/)
  })
})

it("testHeaders signs like the service, for any time", async () => {
  const made = await testHeaders({ payload, secret, executionId: "e1", sentAt })
  const mac = createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
  expect(made["webhook-signature"]).toBe(
    `v1,${mac.update(`e1.1614265330.${payload}`).digest("base64")}`
  )
  expect(await verify(payload, made, secret, options)).toEqual({
    id: "e1",
    executionId: "e1",
    sentAt
  })
  const fresh = await testHeaders({ payload, secret })
  expect(await verify(payload, fresh, secret)).toHaveProperty("executionId")
})

describe("unwrap", () => {
  const body = JSON.stringify({
    id: "m1",
    type: "execution.failed",
    created_at: "2026-01-31T09:30:00.127Z",
    workspace_id: "w1",
    data: { execution: { id: "e1", status: "failed" }, notice: null }
  })

  it.each([
    ["text", body],
    ["bytes", Buffer.from(body)],
    ["an ArrayBuffer", new TextEncoder().encode(body).buffer]
  ])("returns the event of a message whose body is %s", async (_, given) => {
    const signed = await testHeaders({ payload: body, secret, eventId: "m1" })
    expect(await unwrap(given, signed, [other, secret])).toEqual(JSON.parse(body))
  })

  it("narrows the data of an event by its type", async () => {
    const signed = await testHeaders({ payload: body, secret, eventId: "m1" })
    const event = await unwrap(body, signed, secret)
    if (event.type !== "execution.failed") throw new Error(event.type)
    expect(event.data.execution.id).toBe("e1")
  })

  it("rejects the call of a task, whose body is chosen by its author", async () => {
    const signed = await testHeaders({ payload: body, secret, executionId: "e2" })
    await expect(unwrap(body, signed, secret)).rejects.toMatchObject({ reason: "not_an_event" })
    expect(await verify(body, signed, secret)).toHaveProperty("executionId", "e2")
  })

  it("rejects messages that the service did not sign", async () => {
    const signed = await testHeaders({ payload: body, secret, eventId: "m1" })
    const forged = body.replace("failed", "succeeded")
    await expect(unwrap(forged, signed, secret)).rejects.toMatchObject({
      reason: "no_matching_signature"
    })
    await expect(unwrap(JSON.parse(body), signed, secret)).rejects.toMatchObject({
      reason: "parsed_payload"
    })
  })

  it("is also a function of the namespace that the client exports", () => {
    expect(webhooks.unwrap).toBe(unwrap)
  })
})
