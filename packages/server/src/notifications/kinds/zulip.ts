import { Schema } from "effect"
import { httpKind } from "./Kind.ts"
import { bodyLines } from "./Message.ts"
import { cut, escapeMarkdown, withoutMentions } from "../../core/index.ts"
import { basic, form, formHeaders, line, secret, serverUrl, under, word } from "./fields.ts"

const safe = (text: string) => withoutMentions(escapeMarkdown(text))

/** By `code`, as messages are translated. */
const goneCodes = new Set<unknown>([
  "UNAUTHORIZED",
  "INVALID_API_KEY",
  "USER_DEACTIVATED",
  "REALM_DEACTIVATED",
  "STREAM_DOES_NOT_EXIST",
  "STREAM_WITH_ID_DOES_NOT_EXIST"
])

export const zulip = httpKind({
  kind: "zulip",
  title: "Zulip",
  config: Schema.Struct({
    server: serverUrl("The server: https://….zulipchat.com", "https://example.zulipchat.com"),
    bot_email: word(
      "The address of the bot",
      "alerts-bot@example.zulipchat.com",
      /^[^\s@:]+@[^\s@:]+$/
    ),
    api_key: secret("The API key of the bot", "abcdefghijklmnopqrstuvwxyz012345"),
    channel: line("The channel", "operations", 60),
    topic: Schema.optionalKey(line("The topic. `alerts` when absent.", "alerts", 60))
  }),
  secrets: ["api_key"],
  target: ["server"],
  spacingMs: 300,
  request: ({ api_key, bot_email, channel, server, topic = "alerts" }, message) => ({
    method: "POST",
    url: under(server, "/api/v1/messages"),
    headers: { ...formHeaders, authorization: basic(bot_email, api_key) },
    body: form({
      type: "stream",
      to: channel,
      topic,
      content: cut(
        [`**${safe(message.title)}**`, ...bodyLines(message).map(safe)].join("\n"),
        10_000
      )
    })
  }),
  rules: { gone: ({ json, status }) => status === 401 || goneCodes.has(json["code"]) }
})
