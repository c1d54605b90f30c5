import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { httpChannelKind } from "./ChannelKind.ts"
import { bodyLines } from "./Message.ts"
import { truncate, escapeMarkdown } from "../../core/index.ts"
import { messageColors } from "../../mail/index.ts"

/**
 * Error codes of a webhook that can no longer be used. 10015: unknown webhook. 50027: invalid
 * webhook token.
 */
const goneCodes = new Set<unknown>([10_015, 50_027])

/**
 * Sends messages to a Discord webhook. The body of a 429 contains the time to wait, in fractional
 * seconds.
 */
export const discord = httpChannelKind({
  kind: "discord",
  title: "Discord",
  config: channelConfigs.discord,
  secrets: ["url"],
  spacingMs: 500,
  request: ({ url }, message) => {
    const target = new URL(url)
    // Without `wait`, the response does not say whether the message was posted.
    target.searchParams.set("wait", "true")
    return {
      method: "POST",
      url: target.href,
      body: {
        allowed_mentions: { parse: [] },
        embeds: [
          {
            title: truncate(escapeMarkdown(message.title), 256),
            description: truncate(bodyLines(message).map(escapeMarkdown).join("\n"), 4_096),
            color: Number.parseInt(messageColors[message.tone].slice(1), 16),
            timestamp: message.created_at.toISOString()
          }
        ]
      }
    }
  },
  rules: {
    isGone: ({ json, status }) => status === 404 || goneCodes.has(json["code"]),
    afterSeconds: ({ json }) => {
      const seconds = json["retry_after"]
      return typeof seconds === "number" && seconds >= 0 ? Math.ceil(seconds) : null
    }
  }
})
