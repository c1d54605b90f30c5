import { assert } from "@effect/vitest"
import type { DeliveryKind } from "@scheduling/domain/notifications/NotificationDelivery"
import { deliveryId, subjectId } from "./messages.ts"
import type { Received, Reply } from "./receivers.ts"
import { countIn, eventsIn, titleIn } from "./events.ts"

type Tone = "down" | "up" | "other"

/**
 * A vendor's API, according to its documentation: the accepted requests, and the possible responses
 * and their meaning.
 */
interface Vendor {
  readonly name: DeliveryKind
  readonly config: Readonly<Record<string, unknown>>
  /** Configurations that must be rejected. */
  readonly refused: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly host: RegExp
  readonly ok: (request: Received) => Reply
  readonly check: (request: Received, tone: Tone) => void
  readonly limits: (request: Received) => void
  readonly answers: ReadonlyArray<readonly [string, Reply]>
}

const titles = { down: "Failed", up: "Recovered", other: "Certificate expires soon" } as const

const alphanumeric = (length: number) => "aB3".repeat(length).slice(0, length)

const fields = ({ headers, text }: Received) => {
  assert.strictEqual(headers["content-type"], "application/x-www-form-urlencoded")
  return Object.fromEntries(new URLSearchParams(text))
}

const characters = (text: unknown, max: number) => {
  assert.isString(text)
  assert.isAtMost(String(text).length, max)
  assert.isAtLeast(String(text).length, 1)
}

const privateServers = [{ server: "ftp://x.test" }, { server: "http://user:pw@x.test" }]

export const vendors: ReadonlyArray<Vendor> = [
  {
    name: "callback",
    config: { url: "https://api.example.com/done" },
    refused: [{ url: "ftp://x.test" }, { authorization: "Bearer abc def" }],
    host: /^api\.example\.com$/,
    ok: () => ({ status: 204 }),
    check: ({ body, headers }, tone) => {
      assert.match(String(headers["webhook-signature"]), /^v1,/)
      assert.strictEqual(body.id, deliveryId)
      assert.include(titleIn(body), titles[tone])
    },
    limits: ({ body }) => assert.lengthOf(eventsIn(body), 10),
    answers: [["never", { status: 410 }]]
  },
  {
    name: "webhook",
    config: { url: "https://alerts.example.com/hook", authorization: "Bearer abc def" },
    refused: [{ url: "ftp://x.test" }, { url: "https://u:p@x.test" }, { authorization: 1 }],
    host: /^alerts\.example\.com$/,
    ok: () => ({ status: 204 }),
    check: ({ body, headers }, tone) => {
      assert.strictEqual(headers["authorization"], "Bearer abc def")
      assert.match(String(headers["webhook-signature"]), /^v1,/)
      assert.strictEqual(body.id, deliveryId)
      assert.include(titleIn(body), titles[tone])
    },
    limits: ({ body }) => {
      assert.strictEqual(countIn(body), 12_345)
      assert.lengthOf(eventsIn(body), 10)
    },
    answers: [
      ["delivered", { status: 200, body: "whatever" }],
      ["never gone", { status: 410 }],
      ["never", { status: 404 }],
      ["never", { status: 401 }],
      ["again 5", { status: 429, headers: { "retry-after": "5" } }]
    ]
  },
  {
    name: "slack",
    config: { url: "https://hooks.slack.com/services/T00000000/B00000000/abcdefghijkl" },
    refused: [
      { url: "https://hooks.slack.com.evil.test/services/x" },
      { url: "http://hooks.slack.com/services/x" },
      { url: "https://hooks.slack.com:8443/x" }
    ],
    host: /^hooks\.slack\.com$/,
    ok: () => ({ body: "ok" }),
    check: ({ body }, tone) => {
      assert.include(body.text, titles[tone])
      assert.match(body.attachments[0].color, /^#[0-9a-f]{6}$/)
    },
    limits: ({ body }) => {
      characters(body.text, 40_000)
      characters(body.attachments[0].text, 3_000)
      assert.notMatch(JSON.stringify(body), /[<>]/)
    },
    answers: [
      ["delivered", { body: "ok" }],
      ["never gone", { status: 404, body: "no_service" }],
      ["never gone", { status: 403, body: "action_prohibited" }],
      ["never gone", { status: 410, body: "channel_is_archived" }],
      ["never gone", { status: 400, body: "invalid_token" }],
      ["never", { status: 400, body: "invalid_payload" }],
      ["again 30", { status: 429, headers: { "retry-after": "30" }, body: "rate_limited" }]
    ]
  },
  {
    name: "discord",
    config: { url: "https://discord.com/api/webhooks/123/abc_def" },
    refused: [{ url: "https://notdiscord.com/api/webhooks/1/a" }],
    host: /^discord\.com$/,
    ok: () => ({ status: 200, body: { id: "1" } }),
    check: ({ body, url }, tone) => {
      assert.include(url, "wait=true")
      assert.include(body.embeds[0].title, titles[tone])
      assert.isNumber(body.embeds[0].color)
    },
    limits: ({ body }) => {
      assert.deepStrictEqual(body.allowed_mentions, { parse: [] })
      assert.isAtMost(body.embeds.length, 10)
      const [embed] = body.embeds
      characters(embed.title, 256)
      characters(embed.description, 4_096)
      assert.isAtMost(embed.title.length + embed.description.length, 6_000)
    },
    answers: [
      ["delivered", { status: 204 }],
      ["never gone", { status: 404, body: { message: "Unknown Webhook", code: 10_015 } }],
      ["never gone", { status: 401, body: { message: "Invalid Webhook Token", code: 50_027 } }],
      ["never", { status: 400, body: { message: "Invalid Form Body", code: 50_035 } }],
      [
        "again 65",
        { status: 429, body: { message: "rate limited", retry_after: 64.57, global: false } }
      ]
    ]
  },
  {
    name: "teams",
    config: {
      url: "https://prod-12.westeurope.logic.azure.com/workflows/abc/triggers/manual/paths/invoke?sig=x"
    },
    refused: [
      { url: "https://logic.azure.com.evil.test/x" },
      { url: "https://evil.test/logic.azure.com" }
    ],
    host: /logic\.azure\.com$/,
    ok: () => ({ status: 202 }),
    check: ({ body }, tone) => {
      assert.strictEqual(body.type, "message")
      const [attachment] = body.attachments
      assert.strictEqual(attachment.contentType, "application/vnd.microsoft.card.adaptive")
      assert.strictEqual(attachment.content.type, "AdaptiveCard")
      assert.include(attachment.content.body[0].text, titles[tone])
    },
    limits: ({ text }) => assert.isAtMost(Buffer.byteLength(text), 28 * 1024),
    answers: [
      ["delivered", { status: 202 }],
      ["never gone", { status: 404, body: { error: { code: "WorkflowNotFound" } } }],
      ["never gone", { status: 401, body: { error: { code: "DirectApiAuthorizationRequired" } } }],
      ["never", { status: 400 }],
      ["again 10", { status: 429, headers: { "retry-after": "10" } }]
    ]
  },
  {
    name: "google_chat",
    config: { url: "https://chat.googleapis.com/v1/spaces/AAA/messages?key=k&token=t" },
    refused: [{ url: "https://chat.googleapis.com.evil.test/v1" }],
    host: /^chat\.googleapis\.com$/,
    ok: () => ({ status: 200, body: { name: "spaces/AAA/messages/1" } }),
    check: ({ body, url }, tone) => {
      assert.include(url, "key=k&token=t")
      assert.include(body.cardsV2[0].card.header.title, titles[tone])
    },
    limits: ({ body, text }) => {
      assert.isAtMost(Buffer.byteLength(text), 32_000)
      for (const { textParagraph } of body.cardsV2[0].card.sections[0].widgets) {
        assert.notMatch(textParagraph.text, /[<>]/)
      }
    },
    answers: [
      ["delivered", { status: 200 }],
      ["never gone", { status: 403, body: { error: { status: "PERMISSION_DENIED" } } }],
      ["never gone", { status: 404, body: { error: { status: "NOT_FOUND" } } }],
      ["never", { status: 400, body: { error: { status: "INVALID_ARGUMENT" } } }],
      ["again", { status: 429, body: { error: { status: "RESOURCE_EXHAUSTED" } } }]
    ]
  },
  {
    name: "mattermost",
    config: { url: "https://chat.example.com/hooks/abcdefghijklmnopqrstuvwxyz" },
    refused: [{ url: "mattermost://x" }],
    host: /^chat\.example\.com$/,
    ok: () => ({ body: "ok" }),
    check: ({ body }, tone) => assert.include(body.text, titles[tone]),
    limits: ({ body }) => {
      characters(body.text, 16_383)
      characters(body.attachments[0].text, 16_383)
      assert.notMatch(body.text + body.attachments[0].text, /@[a-z*]/)
    },
    answers: [
      ["delivered", { body: "ok" }],
      ["again", { status: 404, body: "404 page not found" }],
      ["never", { status: 400, body: { message: "Unable to parse incoming data" } }],
      ["never", { status: 403 }],
      ["again 1", { status: 429, headers: { "retry-after": "1" } }]
    ]
  },
  {
    name: "telegram",
    config: { bot_token: `123456:${alphanumeric(35)}`, chat_id: "-1001", thread_id: 7 },
    refused: [
      { bot_token: "123456" },
      { chat_id: "name" },
      { bot_token: `1/../x:${alphanumeric(30)}` }
    ],
    host: /^api\.telegram\.org$/,
    ok: () => ({ body: { ok: true, result: { message_id: 1 } } }),
    check: ({ body, url }, tone) => {
      assert.strictEqual(url, `/bot123456:${alphanumeric(35)}/sendMessage`)
      assert.deepInclude(body, { chat_id: "-1001", message_thread_id: 7 })
      assert.include(body.text, titles[tone])
      assert.notProperty(body, "parse_mode")
    },
    limits: ({ body }) => characters(body.text, 4_096),
    answers: [
      ["delivered", { body: { ok: true } }],
      ["never", { body: { ok: false, description: "odd" } }],
      [
        "never gone",
        { status: 403, body: { ok: false, description: "Forbidden: bot was blocked by the user" } }
      ],
      ["never gone", { status: 401, body: { ok: false, description: "Unauthorized" } }],
      [
        "never gone",
        { status: 400, body: { ok: false, description: "Bad Request: chat not found" } }
      ],
      [
        "never",
        { status: 400, body: { ok: false, description: "Bad Request: message is too long" } }
      ],
      [
        "again 31",
        {
          status: 429,
          body: { ok: false, description: "Too Many Requests", parameters: { retry_after: 31 } }
        }
      ]
    ]
  },
  {
    name: "pagerduty",
    config: { routing_key: alphanumeric(32), region: "eu" },
    refused: [{ routing_key: "short" }, { region: "asia" }, { severity: "bad" }],
    host: /^events\.eu\.pagerduty\.com$/,
    ok: () => ({ status: 202, body: { status: "success", dedup_key: "x" } }),
    check: ({ body, url }, tone) => {
      assert.strictEqual(url, "/v2/enqueue")
      assert.deepInclude(body, {
        routing_key: alphanumeric(32),
        dedup_key: subjectId,
        event_action: tone === "up" ? "resolve" : "trigger"
      })
      if (tone !== "up") {
        assert.strictEqual(body.payload.severity, tone === "down" ? "error" : "warning")
        assert.strictEqual(body.payload.source, "Acme")
      }
    },
    limits: ({ body, text }) => {
      characters(body.payload.summary, 1_024)
      characters(body.dedup_key, 255)
      assert.isAtMost(Buffer.byteLength(text), 512 * 1024)
    },
    answers: [
      ["delivered", { status: 202 }],
      [
        "never gone",
        { status: 400, body: { status: "invalid event", errors: ["Invalid routing key"] } }
      ],
      [
        "never",
        { status: 400, body: { status: "invalid event", errors: ["Length of 'summary'"] } }
      ],
      ["never gone", { status: 403 }],
      ["again", { status: 429 }]
    ]
  },
  {
    name: "opsgenie",
    config: { api_key: "eb243592-faa2-4ba2-a551q-1afdf565c889", region: "eu", priority: "P1" },
    refused: [{ api_key: "a b c d e f g h" }, { priority: "P9" }],
    host: /^api\.eu\.opsgenie\.com$/,
    ok: () => ({ status: 202, body: { result: "Request will be processed" } }),
    check: ({ body, headers, url }, tone) => {
      assert.match(String(headers["authorization"]), /^GenieKey eb243592/)
      if (tone === "up") {
        assert.strictEqual(url, `/v2/alerts/${subjectId}/close?identifierType=alias`)
      } else {
        assert.strictEqual(url, "/v2/alerts")
        assert.strictEqual(body.alias, subjectId)
        assert.strictEqual(body.priority, tone === "down" ? "P1" : "P4")
      }
    },
    limits: ({ body }) => {
      characters(body.message, 130)
      characters(body.alias, 512)
      characters(body.description, 15_000)
    },
    answers: [
      ["delivered", { status: 202 }],
      ["never gone", { status: 401, body: { message: "Could not authenticate" } }],
      ["never gone", { status: 403 }],
      ["never", { status: 400 }],
      ["again", { status: 429 }]
    ]
  },
  {
    name: "jira_service_management",
    config: {
      cloud_id: "11111111-2222-3333-4444-555555555555",
      email: "ops@example.com",
      api_token: "ATATT3xFfGF0"
    },
    refused: [{ cloud_id: "../../x" }, { email: "no" }],
    host: /^api\.atlassian\.com$/,
    ok: ({ method }) =>
      method === "GET"
        ? { body: { id: "alert-1", alias: subjectId } }
        : { status: 202, body: { requestId: "r" } },
    check: ({ body, headers, url }, tone) => {
      const basic = Buffer.from("ops@example.com:ATATT3xFfGF0").toString("base64")
      assert.strictEqual(headers["authorization"], `Basic ${basic}`)
      const alerts = "/jsm/ops/api/11111111-2222-3333-4444-555555555555/v1/alerts"
      assert.strictEqual(url, tone === "up" ? `${alerts}/alert-1/close` : alerts)
      if (tone !== "up") assert.strictEqual(body.alias, subjectId)
    },
    limits: ({ body }) => {
      characters(body.message, 130)
      characters(body.description, 15_000)
    },
    answers: [
      ["delivered", { status: 202 }],
      ["never gone", { status: 401 }],
      ["never", { status: 400 }],
      ["again 2", { status: 429, headers: { "retry-after": "2" } }]
    ]
  },
  {
    name: "ntfy",
    config: { server: "https://ntfy.example.com", topic: "ops-alerts", token: "tk_abcdefgh" },
    refused: [{ topic: "a/b" }, { topic: "x".repeat(65) }, ...privateServers],
    host: /^ntfy\.example\.com$/,
    ok: () => ({ body: { id: "x", event: "message" } }),
    check: ({ body, headers, url }, tone) => {
      assert.strictEqual(url, "/")
      assert.strictEqual(headers["authorization"], "Bearer tk_abcdefgh")
      assert.strictEqual(body.topic, "ops-alerts")
      assert.include(body.title, titles[tone])
      assert.include([1, 2, 3, 4, 5], body.priority)
    },
    limits: ({ body }) => assert.isAtMost(Buffer.byteLength(body.message), 4_096),
    answers: [
      ["delivered", { status: 200 }],
      ["never gone", { status: 403, body: { code: 40_301, error: "forbidden" } }],
      ["never gone", { status: 401 }],
      ["again 10", { status: 429, body: { code: 42_901, error: "limit reached" } }],
      ["again 3600", { status: 429, body: { code: 42_908, error: "daily message quota reached" } }],
      ["never", { status: 400 }]
    ]
  },
  {
    name: "gotify",
    config: { server: "https://push.example.com/gotify/", token: "AbCdEfGhIjKlMnO" },
    refused: privateServers,
    host: /^push\.example\.com$/,
    ok: () => ({ body: { id: 1 } }),
    check: ({ body, headers, url }, tone) => {
      assert.strictEqual(url, "/gotify/message")
      assert.strictEqual(headers["x-gotify-key"], "AbCdEfGhIjKlMnO")
      assert.include(body.title, titles[tone])
    },
    limits: ({ body }) => characters(body.message, 8_000),
    answers: [
      ["delivered", { status: 200 }],
      ["never gone", { status: 401, body: { error: "Unauthorized", errorCode: 401 } }],
      ["never", { status: 400 }],
      ["again", { status: 429 }]
    ]
  },
  {
    name: "pushover",
    config: { token: alphanumeric(30), user: alphanumeric(30), urgent: true },
    refused: [{ token: "x" }, { user: "y" }, { urgent: "yes" }],
    host: /^api\.pushover\.net$/,
    ok: () => ({ body: { status: 1, request: "r" } }),
    check: (request, tone) => {
      const sent = fields(request)
      assert.include(sent["title"], titles[tone])
      assert.strictEqual(sent["priority"], tone === "down" ? "2" : "0")
      if (tone === "down") {
        assert.isAtLeast(Number(sent["retry"]), 30)
        assert.isAtMost(Number(sent["expire"]), 10_800)
      } else assert.notProperty(sent, "retry")
    },
    limits: (request) => {
      const sent = fields(request)
      characters(sent["message"], 1_024)
      characters(sent["title"], 250)
    },
    answers: [
      ["delivered", { body: { status: 1 } }],
      [
        "never gone",
        { status: 400, body: { user: "invalid", errors: ["user key is invalid"], status: 0 } }
      ],
      ["never gone", { status: 400, body: { token: "invalid", status: 0 } }],
      ["never", { status: 400, body: { errors: ["message cannot be blank"], status: 0 } }],
      ["again 3600", { status: 429, body: { errors: ["application is over its quota"] } }]
    ]
  },
  {
    name: "twilio_sms",
    config: {
      account_sid: `AC${"a1".repeat(16)}`,
      auth_token: "b2".repeat(16),
      from: "+15005550006",
      to: "+4915112345678"
    },
    refused: [{ to: "0151" }, { from: "Acme" }, { account_sid: "AC/../x" }],
    host: /^api\.twilio\.com$/,
    ok: () => ({ status: 201, body: { status: "queued" } }),
    check: (request, tone) => {
      assert.strictEqual(request.url, `/2010-04-01/Accounts/AC${"a1".repeat(16)}/Messages.json`)
      const sent = fields(request)
      assert.deepInclude(sent, { To: "+4915112345678", From: "+15005550006" })
      assert.include(sent["Body"], titles[tone])
    },
    limits: (request) => {
      const sent = fields(request)
      characters(sent["Body"], 320)
      assert.match(sent["Body"] ?? "", /^[\n\x20-\x7e]*$/)
    },
    answers: [
      ["delivered", { status: 201 }],
      ["never gone", { status: 400, body: { code: 21_211, message: "Invalid 'To' Phone Number" } }],
      ["never gone", { status: 400, body: { code: 21_610, message: "unsubscribed recipient" } }],
      ["never gone", { status: 400, body: { code: 21_614, message: "not a mobile number" } }],
      ["never gone", { status: 401, body: { code: 20_003, message: "Authenticate" } }],
      ["never", { status: 400, body: { code: 21_606, message: "not a valid From" } }],
      ["again", { status: 429, body: { code: 20_429, message: "Too many requests" } }]
    ]
  },
  {
    name: "zulip",
    config: {
      server: "https://acme.zulipchat.com",
      bot_email: "bot@acme.zulipchat.com",
      api_key: alphanumeric(32),
      channel: "ops",
      topic: "scheduling"
    },
    refused: [...privateServers, { channel: "x".repeat(61) }, { topic: "a\nb" }],
    host: /^acme\.zulipchat\.com$/,
    ok: () => ({ body: { result: "success", id: 1 } }),
    check: (request, tone) => {
      assert.strictEqual(request.url, "/api/v1/messages")
      const sent = fields(request)
      assert.deepInclude(sent, { type: "stream", to: "ops", topic: "scheduling" })
      assert.include(sent["content"], titles[tone])
    },
    limits: (request) => {
      const sent = fields(request)
      characters(sent["content"], 10_000)
      characters(sent["topic"], 60)
      assert.notMatch(sent["content"] ?? "", /@\*\*|@all/)
    },
    answers: [
      ["delivered", { body: { result: "success" } }],
      [
        "never gone",
        { status: 401, body: { result: "error", code: "UNAUTHORIZED", msg: "Invalid API key" } }
      ],
      [
        "never gone",
        { status: 400, body: { result: "error", code: "STREAM_DOES_NOT_EXIST", msg: "-" } }
      ],
      ["never", { status: 400, body: { result: "error", code: "BAD_REQUEST", msg: "-" } }],
      [
        "again 3",
        { status: 429, headers: { "retry-after": "3" }, body: { code: "RATE_LIMIT_HIT" } }
      ]
    ]
  },
  {
    name: "matrix",
    config: {
      server: "https://matrix.example.com",
      access_token: "syt_abcdefghijkl",
      room_id: "!abc:example.com"
    },
    refused: [...privateServers, { room_id: "#alias:example.com" }, { room_id: "!a/b:x" }],
    host: /^matrix\.example\.com$/,
    ok: () => ({ body: { event_id: "$1" } }),
    check: ({ body, headers, method, url }, tone) => {
      assert.strictEqual(method, "PUT")
      assert.strictEqual(
        url,
        `/_matrix/client/v3/rooms/!abc%3Aexample.com/send/m.room.message/${deliveryId}`
      )
      assert.strictEqual(headers["authorization"], "Bearer syt_abcdefghijkl")
      assert.include(body.body, titles[tone])
    },
    limits: ({ body, text }) => {
      assert.isAtMost(Buffer.byteLength(text), 65_536)
      assert.notInclude(body.formatted_body, "<script")
      assert.deepStrictEqual(body["m.mentions"], {})
    },
    answers: [
      ["delivered", { body: { event_id: "$1" } }],
      ["never gone", { status: 401, body: { errcode: "M_UNKNOWN_TOKEN", error: "Unrecognised" } }],
      ["never gone", { status: 403, body: { errcode: "M_FORBIDDEN", error: "not in room" } }],
      ["again 3", { status: 429, body: { errcode: "M_LIMIT_EXCEEDED", retry_after_ms: 2_345 } }],
      ["again 3600", { status: 429, body: { errcode: "M_LIMIT_EXCEEDED", retry_after_ms: 1e300 } }],
      ["never", { status: 400, body: { errcode: "M_BAD_JSON" } }]
    ]
  }
]
