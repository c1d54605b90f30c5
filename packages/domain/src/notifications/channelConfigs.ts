import { type JsonSchema, Schema } from "effect"
import { MailAddress } from "../auth/emailAddress.ts"
import { lineField, providerUrl, secretField, serverUrl, tokenField } from "./channelFields.ts"

const phone = /^\+[1-9]\d{6,14}$/

/** A key of a Pushover application, user or group. */
const key = /^[A-Za-z0-9]{30}$/

const region = Schema.Literals(["us", "eu"]).annotate({
  description: "The region of the account. Defaults to `us`."
})

const priorities = ["P1", "P2", "P3", "P4", "P5"] as const
const severities = ["critical", "error", "warning", "info"] as const

/** The schema of `config` for each kind of channel. */
export const channelConfigs = {
  email: Schema.Struct({
    to: MailAddress({ description: "The address", examples: ["ops@example.com"] })
  }),
  webhook: Schema.Struct({
    url: serverUrl(
      "The URL that receives messages as POST requests, signed with the `message_secret` of its origin.",
      "https://alerts.example.com/hook"
    ),
    authorization: Schema.optionalKey(
      secretField(
        "The Authorization header, if the server needs one",
        "Bearer abcdef",
        /^[\x20-\x7e]+$/
      )
    )
  }),
  slack: Schema.Struct({
    url: providerUrl(
      "The URL of an incoming webhook: https://hooks.slack.com/…",
      "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
      "hooks\\.slack(?:-gov)?\\.com"
    )
  }),
  discord: Schema.Struct({
    url: providerUrl(
      "The URL of a webhook: https://discord.com/api/webhooks/…",
      "https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwx",
      "(?:(?:canary|ptb)\\.)?discord(?:app)?\\.com"
    )
  }),
  teams: Schema.Struct({
    url: providerUrl(
      "The URL of a workflow that posts to a channel when a webhook request is received",
      "https://prod-01.westeurope.logic.azure.com/workflows/abcdef/triggers/manual/paths/invoke?sig=abcdef",
      "(?:[^/?#]+\\.)?(?:logic\\.azure\\.com|powerplatform\\.com|powerautomate\\.com)"
    )
  }),
  google_chat: Schema.Struct({
    url: providerUrl(
      "The URL of a space's webhook: https://chat.googleapis.com/…",
      "https://chat.googleapis.com/v1/spaces/AAAA/messages?key=abcdef&token=abcdef",
      "chat\\.googleapis\\.com"
    )
  }),
  mattermost: Schema.Struct({
    url: serverUrl(
      "The URL of an incoming webhook: https://…/hooks/…",
      "https://chat.example.com/hooks/abcdefghijklmnopqrstuvwxyz"
    )
  }),
  telegram: Schema.Struct({
    bot_token: secretField(
      "Your bot's token, such as 123456:ABC…",
      "123456:AbCdEfGhIjKlMnOpQrStUvWxYz012345678",
      /^\d+:[A-Za-z0-9_-]{20,100}$/
    ),
    chat_id: tokenField(
      "The chat's id, or the @name of a public channel",
      "-1001234567890",
      /^(?:-?\d{1,20}|@\w{3,64})$/
    ),
    thread_id: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 })).annotate({
        description: "The topic's id. Required only to post to one topic of a forum group."
      })
    )
  }),
  pagerduty: Schema.Struct({
    routing_key: secretField(
      "The integration key of a service (Events API v2)",
      "R0123456789ABCDEFGHIJKLMNOPQRSTU",
      /^[A-Za-z0-9]{32}$/
    ),
    region: Schema.optionalKey(region),
    severity: Schema.optionalKey(
      Schema.Literals(severities).annotate({
        description: "The severity of problems. Defaults to `error`."
      })
    )
  }),
  opsgenie: Schema.Struct({
    api_key: secretField(
      "The key of an API integration",
      "eb243592-faa2-4ba2-a551-1afdf565c889",
      /^[A-Za-z0-9-]{8,100}$/
    ),
    region: Schema.optionalKey(region),
    priority: Schema.optionalKey(
      Schema.Literals(priorities).annotate({
        description: "The priority of problems. Defaults to P2."
      })
    )
  }),
  jira_service_management: Schema.Struct({
    cloud_id: tokenField(
      "The id of the Atlassian site",
      "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
      /^[0-9a-fA-F-]{36}$/
    ),
    email: tokenField(
      "The email address of the API token's account",
      "ops@example.com",
      /^[^\s@:]+@[^\s@:]+$/
    ),
    api_token: secretField("An API token of the account", "ATATT3xFfGF0abcdef"),
    priority: Schema.optionalKey(
      Schema.Literals(priorities).annotate({
        description: "The priority of problems. Defaults to P2."
      })
    )
  }),
  ntfy: Schema.Struct({
    server: Schema.optionalKey(
      serverUrl("The server. Defaults to https://ntfy.sh.", "https://ntfy.sh")
    ),
    topic: tokenField("The topic", "ops-alerts", /^[-\w]{1,64}$/),
    token: Schema.optionalKey(secretField("An access token, if the topic needs one", "tk_abcdefgh"))
  }),
  gotify: Schema.Struct({
    server: serverUrl("The server, including its base path", "https://push.example.com"),
    token: secretField("The application token", "AbCdEfGhIjKlMnO")
  }),
  pushover: Schema.Struct({
    token: secretField("The application token", "azGDORePK8gMaC0QOYAMyEEuzJnyUi", key),
    user: secretField("The key of a user or a group", "uQiRzpo4DXghDmr9QzzfQu27cmVRsG", key),
    urgent: Schema.optionalKey(
      Schema.Boolean.annotate({
        description:
          "Repeats alerts about problems every minute for an hour, until somebody acknowledges them."
      })
    )
  }),
  twilio_sms: Schema.Struct({
    account_sid: tokenField(
      "The account: AC…",
      "AC0123456789abcdef0123456789abcdef",
      /^[aA][cC][0-9a-fA-F]{32}$/
    ),
    auth_token: secretField(
      "The auth token of the account",
      "0123456789abcdef0123456789abcdef",
      /^[0-9a-fA-F]{32}$/
    ),
    from: tokenField(
      "The sender's number, or a messaging service: MG…",
      "+14155550123",
      /^(?:\+[1-9]\d{6,14}|[mM][gG][0-9a-fA-F]{32})$/
    ),
    to: tokenField("The recipient's number, such as +4915112345678", "+4915112345678", phone)
  }),
  zulip: Schema.Struct({
    server: serverUrl("The server: https://….zulipchat.com", "https://example.zulipchat.com"),
    bot_email: tokenField(
      "The email address of the bot",
      "alerts-bot@example.zulipchat.com",
      /^[^\s@:]+@[^\s@:]+$/
    ),
    api_key: secretField("The API key of the bot", "abcdefghijklmnopqrstuvwxyz012345"),
    channel: lineField("The channel", "operations", 60),
    topic: Schema.optionalKey(lineField("The topic. Defaults to `alerts`.", "alerts", 60))
  }),
  matrix: Schema.Struct({
    server: serverUrl("The homeserver: https://matrix.org", "https://matrix.org"),
    access_token: secretField("An access token", "syt_b3Bz_abcdef"),
    room_id: tokenField("The id of the room: !…:…", "!abcdef:matrix.org", /^![^\s/]{1,250}$/)
  })
} as const

/** Turns the field descriptions into sentences for the API reference. Forms use them as labels. */
const documented = (schema: JsonSchema.JsonSchema): JsonSchema.JsonSchema => ({
  ...schema,
  description: "The fields of the kind.",
  properties: Object.fromEntries(
    Object.entries(schema.properties as Readonly<Record<string, { description?: string }>>).map(
      ([name, field]) => [
        name,
        { ...field, description: (field.description ?? name).replace(/[^.]$/, "$&.") }
      ]
    )
  )
})

/** `google_chat` → `GoogleChat` */
const pascal = (kind: string) =>
  kind.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())

/**
 * A check that accepts everything. It only documents the `config` of each `kind`: the service
 * decodes the config itself, because it also accepts masked secrets.
 */
export const configDocumentation = Schema.makeFilter<object>(() => true, {
  toJsonSchema: () => ({
    anyOf: Object.entries(channelConfigs).map(([kind, config]) => ({
      title: `${pascal(kind)}ChannelInput`,
      description: `A channel of the kind \`${kind}\`.`,
      type: "object",
      properties: {
        kind: { type: "string", enum: [kind], description: "The kind of the channel." },
        config: documented(Schema.toJsonSchemaDocument(config).schema)
      },
      required: ["kind", "config"]
    }))
  })
})
