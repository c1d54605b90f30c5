import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { httpChannelKind } from "./ChannelKind.ts"
import { bodyLines } from "./Message.ts"
import { escapeMarkdownAndMentions, truncate } from "../../core/index.ts"
import { basicAuthorization, formBody, formHeaders, joinUrl } from "./fields.ts"

/**
 * Error codes for a deleted bot or channel. The error messages are translated, so they cannot be
 * compared.
 */
const goneCodes = new Set<unknown>([
  "UNAUTHORIZED",
  "INVALID_API_KEY",
  "USER_DEACTIVATED",
  "REALM_DEACTIVATED",
  "STREAM_DOES_NOT_EXIST",
  "STREAM_WITH_ID_DOES_NOT_EXIST"
])

export const zulip = httpChannelKind({
  kind: "zulip",
  title: "Zulip",
  config: channelConfigs.zulip,
  secrets: ["api_key"],
  target: ["server"],
  spacingMs: 300,
  request: ({ api_key, bot_email, channel, server, topic = "alerts" }, message) => ({
    method: "POST",
    url: joinUrl(server, "/api/v1/messages"),
    headers: { ...formHeaders, authorization: basicAuthorization(bot_email, api_key) },
    body: formBody({
      type: "stream",
      to: channel,
      topic,
      content: truncate(
        [
          `**${escapeMarkdownAndMentions(message.title)}**`,
          ...bodyLines(message).map(escapeMarkdownAndMentions)
        ].join("\n"),
        10_000
      )
    })
  }),
  rules: { isGone: ({ json, status }) => status === 401 || goneCodes.has(json["code"]) }
})
