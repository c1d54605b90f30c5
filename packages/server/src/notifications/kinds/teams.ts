import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { hasStatus, httpChannelKind } from "./ChannelKind.ts"
import { bodyLines } from "./Message.ts"
import { truncateBytes, escapeMarkdown } from "../../core/index.ts"

const tones = { down: "Attention", up: "Good", other: "Warning" } as const

/**
 * Sends cards to a Teams workflow. The workflow responds with 202 as soon as the message is queued.
 * A card is limited to 28 KB.
 */
export const teams = httpChannelKind({
  kind: "teams",
  title: "Microsoft Teams",
  config: channelConfigs.teams,
  secrets: ["url"],
  spacingMs: 250,
  request: ({ url }, message) => ({
    method: "POST",
    url,
    body: {
      type: "message",
      attachments: [
        {
          contentType: "application/vnd.microsoft.card.adaptive",
          contentUrl: null,
          content: {
            $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
            type: "AdaptiveCard",
            version: "1.4",
            fallbackText: message.title,
            body: [
              {
                type: "TextBlock",
                text: escapeMarkdown(message.title),
                weight: "Bolder",
                size: "Medium",
                color: tones[message.tone],
                wrap: true
              },
              ...bodyLines(message).map((text) => ({
                type: "TextBlock",
                text: escapeMarkdown(truncateBytes(text, 1_000)),
                wrap: true,
                spacing: "Small"
              }))
            ]
          }
        }
      ]
    }
  }),
  rules: { isGone: hasStatus(401, 404, 410) }
})
