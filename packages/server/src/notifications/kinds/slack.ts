import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { hasStatus, httpChannelKind } from "./ChannelKind.ts"
import { bodyLines } from "./Message.ts"
import { truncate } from "../../core/index.ts"
import { messageColors } from "../../mail/index.ts"

/**
 * Slack interprets only `&`, `<` and `>`. Once they are escaped, no name can mention a user or
 * disguise a link.
 */
const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/**
 * Sends messages to a Slack webhook. 404, 410 and 403 mean that the webhook was removed, or that
 * its Slack channel was archived or restricted.
 */
export const slack = httpChannelKind({
  kind: "slack",
  title: "Slack",
  config: channelConfigs.slack,
  secrets: ["url"],
  spacingMs: 1_000,
  request: ({ url }, message) => ({
    method: "POST",
    url,
    body: {
      text: escape(message.title),
      attachments: [
        {
          color: messageColors[message.tone],
          fallback: escape(message.title),
          text: truncate(escape(bodyLines(message).join("\n")), 3_000),
          mrkdwn_in: []
        }
      ]
    }
  }),
  rules: {
    isGone: (answer) => hasStatus(403, 404, 410)(answer) || answer.text.includes("invalid_token")
  }
})
