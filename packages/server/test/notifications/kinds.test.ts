// @tags idle
import { assert, describe, it } from "@effect/vitest"
import { notificationEvents } from "@scheduling/domain/notifications/NotificationEvent"
import { Effect, Result, Schema } from "effect"
import { describeChannelKind } from "../../src/notifications/channels/describeChannelKind.ts"
import { alertMail } from "../../src/notifications/kinds/alertMail.ts"
import { channelKinds } from "../../src/notifications/kinds/channelKinds.ts"
import {
  downMessage,
  messageWith,
  hostileMessage,
  otherMessage,
  sendBy,
  subjectId,
  messageEvent,
  upMessage
} from "./support/messages.ts"
import type { Received, Reply } from "./support/receivers.ts"
import { vendors } from "./support/vendors.ts"

const http = vendors.map((vendor) => ({ ...vendor, kind: channelKinds[vendor.name] }))

const summary = ({
  after_seconds,
  gone,
  outcome
}: {
  readonly outcome: string
  readonly gone: boolean
  readonly after_seconds: number | null
}) =>
  [outcome, ...(gone ? ["gone"] : []), ...(after_seconds === null ? [] : [after_seconds])].join(" ")

interface Property {
  readonly type: string
  readonly enum?: ReadonlyArray<string>
  readonly examples?: ReadonlyArray<string>
  readonly minimum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
}

/** Email has no vendor with an API. */
const noVendor = {
  config: { to: "ada@example.com" },
  refused: [{ to: "ada" }, { to: "a@b@c" }]
}

const exampleOf = ({ enum: options, examples, minimum, type }: Property) =>
  examples?.[0] ?? options?.[0] ?? minimum ?? (type === "boolean" ? true : undefined)

/** Validates a value against the subset of JSON Schema that the kinds of channels use. */
const isAllowed = (property: Property, value: unknown) =>
  property.type === "string" && typeof value === "string"
    ? value.length >= (property.minLength ?? 0) &&
      value.length <= (property.maxLength ?? Infinity) &&
      new RegExp(property.pattern ?? "", "u").test(value) &&
      property.enum?.includes(value) !== false
    : typeof value === (property.type === "integer" ? "number" : property.type)

describe.each(Object.values(channelKinds))("The schema of $kind", (kind) => {
  const schema = describeChannelKind("webhook", kind, null).config_schema
  const properties = Object(schema["properties"]) as Readonly<Record<string, Property>>
  const example = Object.fromEntries(
    Object.entries(properties).map(([field, property]) => [field, exampleOf(property)])
  )
  const strict = { onExcessProperty: "error" } as const
  const decode = Schema.decodeUnknownResult(kind.config)

  it("has examples that it allows, and that the kind takes", () => {
    const decoded = decode(example, strict)
    assert.isTrue(Result.isSuccess(decoded), JSON.stringify({ example, decoded }))
    for (const [field, property] of Object.entries(properties)) {
      assert.isTrue(isAllowed(property, example[field]), field)
    }
  })

  it("rejects what the kind rejects", () => {
    assert.isFalse(schema["additionalProperties"])
    const { config, refused } = vendors.find(({ name }) => name === kind.kind) ?? noVendor
    for (const [field, value] of Object.entries(config)) {
      const property = properties[field]
      assert(property !== undefined, field)
      assert.isTrue(isAllowed(property, value), field)
    }
    for (const wrong of refused) {
      for (const [field, value] of Object.entries(wrong)) {
        const property = properties[field]
        // A pattern cannot express whether a server is an allowed target.
        if (property === undefined || (property.format === "uri" && property.pattern === undefined))
          continue
        assert.isFalse(isAllowed(property, value), JSON.stringify(wrong))
      }
    }
  })
})

it("What a field should be is said in one sentence", () => {
  const decoded = Schema.decodeUnknownResult(channelKinds.slack.config)({
    url: "https://example.com"
  })
  assert(Result.isFailure(decoded))
  assert.include(String(decoded.failure), "Expected the URL of an incoming webhook")
})

it("there is a vendor for every kind but mail", () => {
  assert.sameMembers([...vendors.map(({ name }) => name), "email"], Object.keys(channelKinds))
})

describe.each(http)("$name", ({ answers, check, config, host, kind, limits, ok, refused }) => {
  it("accepts only its configuration", () => {
    const decode = Schema.decodeUnknownResult(kind.config)
    const strict = { onExcessProperty: "error" } as const
    assert.isTrue(Result.isSuccess(decode(config, strict)))
    assert.isTrue(Result.isFailure(decode({ ...config, extra: 1 }, strict)))
    for (const wrong of refused) {
      assert.isTrue(
        Result.isFailure(decode({ ...config, ...wrong }, strict)),
        JSON.stringify(wrong)
      )
    }
    for (const field of kind.secrets) {
      for (const value of ["", "with\r\nbreak", "\u0000", "ü", 1]) {
        assert.isTrue(Result.isFailure(decode({ ...config, [field]: value }, strict)), field)
      }
    }
  })

  it.live.each([
    ["down", downMessage],
    ["up", upMessage],
    ["other", otherMessage]
  ] as const)("says %s as the vendor wants it", ([tone, message]) =>
    Effect.gen(function* () {
      const { requests, urls, result } = yield* sendBy(kind, config, message, ok)
      assert.strictEqual(summary(result), "delivered", result.error ?? "")
      assert.match(urls[0]?.host ?? "", host)
      const last = requests.at(-1)
      assert(last !== undefined)
      assert.strictEqual(last.headers["idempotency-key"], message.id)
      check(last, tone)
    })
  )

  it.live("obeys the limits of the vendor, and no name mentions anybody or adds a header", () =>
    Effect.gen(function* () {
      const { requests, result } = yield* sendBy(kind, config, hostileMessage, ok)
      assert.strictEqual(result.outcome, "delivered", result.error ?? "")
      for (const request of requests) {
        limits(request)
        assert.isTrue(request.text.isWellFormed())
        assert.notInclude(Object.keys(request.headers), "bcc")
        assert.include(decodeURIComponent(request.text.replaceAll("+", " ")), "12,345")
      }
    })
  )

  it.live.each([...answers, ...common])("classifies %j correctly", ([expected, reply]) =>
    Effect.gen(function* () {
      const { result } = yield* sendBy(kind, config, downMessage, () => reply)
      assert.strictEqual(summary(result), expected, result.error ?? "")
      if (expected !== "delivered") assert.isNotEmpty(result.error)
    })
  )
})

it.live("Every kind is retried if there is no response", () =>
  Effect.forEach(
    http,
    Effect.fnUntraced(function* ({ config, kind, name }) {
      const { result } = yield* sendBy(kind, config, downMessage, () => ({ hangs: true }))
      assert.strictEqual(result.outcome, "again", name)
      assert.match(result.error ?? "", /^timeout/, name)
    }),
    // All requests wait for their timeouts at the same time.
    { concurrency: "unbounded", discard: true }
  )
)

describe("An incident", () => {
  const keeping = http.filter(({ kind }) => kind.keepsIncidents)

  it("is kept by three kinds", () => {
    assert.sameMembers(
      keeping.map(({ name }) => name),
      ["pagerduty", "opsgenie", "jira_service_management"]
    )
  })

  it.live.each(keeping)("is closed by the same key that opened it: $name", ({ config, kind, ok }) =>
    Effect.gen(function* () {
      for (const message of [downMessage, upMessage]) {
        const { requests } = yield* sendBy(kind, config, message, ok)
        assert.isTrue(
          requests.some(({ text, url }) => text.includes(subjectId) || url.includes(subjectId))
        )
      }
    })
  )
})

it.live("An alert that Jira no longer knows counts as closed", () =>
  Effect.gen(function* () {
    const vendor = http.find(({ name }) => name === "jira_service_management")
    assert(vendor !== undefined)
    const { requests, result } = yield* sendBy(vendor.kind, vendor.config, upMessage, () => ({
      status: 404
    }))
    assert.strictEqual(result.outcome, "delivered")
    assert.lengthOf(requests, 1)
  })
)

it.live("A Telegram group that has become a supergroup is found under its new id", () =>
  Effect.gen(function* () {
    const vendor = http.find(({ name }) => name === "telegram")
    assert(vendor !== undefined)
    const { result } = yield* sendBy(vendor.kind, vendor.config, downMessage, () => ({
      status: 400,
      body: {
        ok: false,
        error_code: 400,
        description: "Bad Request: group chat was upgraded to a supergroup chat",
        parameters: { migrate_to_chat_id: -1_001_234_567_890 }
      }
    }))
    assert.deepInclude(result, { outcome: "again", after_seconds: 0, gone: false })
    assert.deepStrictEqual(result.changes, { chat_id: "-1001234567890" })
  })
)

describe("The dependents of a cause", () => {
  const cause = messageEvent({
    event: "incident.opened",
    facts: [{ name: "Also down", value: "Report, Shop and 12 more" }]
  })
  const alone = messageWith({ begun: 1 }, [cause])
  const grouped = messageWith({ begun: 2 }, [cause, messageEvent()])

  it.live.each(http)("are named in messages: $name", ({ config, kind, ok }) =>
    Effect.gen(function* () {
      for (const message of [alone, grouped]) {
        const { requests } = yield* sendBy(kind, config, message, ok)
        const text = requests.map((request) => request.text.replaceAll("+", " ")).join("\n")
        assert.include(decodeURIComponent(text), "Report, Shop and 12 more")
      }
    })
  )

  it("are named in mails", () => {
    for (const message of [alone, grouped]) {
      const { html, text } = alertMail("ada@example.com", message, "https://example.com/stop")
      assert.include(text, "Also down: Report, Shop and 12 more")
      assert.include(html, "Report, Shop and 12 more")
    }
  })
})

it("Every event has a title of its own kind", () => {
  for (const event of notificationEvents) {
    const { title } = messageWith({ other: 1 }, [messageEvent({ event })])
    assert.match(title, /^[A-Z][A-Za-z ]+: Nightly report$/, event)
  }
})

/**
 * Responses that have the same meaning for all vendors, unless a vendor defines them differently.
 */
const common: ReadonlyArray<readonly [string, Reply]> = [
  ["again", { status: 500, body: "oh no" }],
  ["again", { status: 503, body: "<html>busy</html>" }],
  ["again 17", { status: 503, headers: { "retry-after": "17" } }],
  ["never", { status: 302, headers: { location: "http://169.254.169.254/" } }],
  ["never", { status: 422, body: { message: "no" } }]
]

export type RequestAssertion = (request: Received, tone: "down" | "up" | "other") => void
