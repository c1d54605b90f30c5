import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { httpKind } from "./Kind.ts"
import { bodyLines } from "./Message.ts"
import { truncate, escapeMarkdown, withoutMentions } from "../../core/index.ts"
import { colors } from "../../mail/index.ts"

const safe = (text: string) => withoutMentions(escapeMarkdown(text))

/**
 * A 404 does not disable the channel, because a proxy also responds with 404 while the server is
 * down.
 */
export const mattermost = httpKind({
  kind: "mattermost",
  title: "Mattermost",
  config: channelConfigs.mattermost,
  secrets: ["url"],
  request: ({ url }, message) => ({
    method: "POST",
    url,
    body: {
      text: `**${safe(message.title)}**`,
      attachments: [
        {
          fallback: message.title,
          color: colors[message.tone],
          text: truncate(bodyLines(message).map(safe).join("\n"), 7_000)
        }
      ]
    }
  }),
  rules: { isRetryable: ({ status }) => status === 404 }
})
