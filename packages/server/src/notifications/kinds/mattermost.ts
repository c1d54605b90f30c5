import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { httpChannelKind } from "./ChannelKind.ts"
import { bodyLines } from "./Message.ts"
import { escapeMarkdownAndMentions, truncate } from "../../core/index.ts"
import { messageColors } from "../../mail/index.ts"

/**
 * Sends messages to a Mattermost webhook. A 404 does not pause the channel, because a proxy also
 * responds with 404 while the server is down.
 */
export const mattermost = httpChannelKind({
  kind: "mattermost",
  title: "Mattermost",
  config: channelConfigs.mattermost,
  secrets: ["url"],
  request: ({ url }, message) => ({
    method: "POST",
    url,
    body: {
      text: `**${escapeMarkdownAndMentions(message.title)}**`,
      attachments: [
        {
          fallback: message.title,
          color: messageColors[message.tone],
          text: truncate(bodyLines(message).map(escapeMarkdownAndMentions).join("\n"), 7_000)
        }
      ]
    }
  }),
  rules: { isRetryable: ({ status }) => status === 404 }
})
