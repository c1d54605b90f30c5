import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { hasStatus, httpChannelKind } from "./ChannelKind.ts"
import { bodyLines } from "./Message.ts"
import { truncateBytes, escapeHtml } from "../../core/index.ts"

/**
 * Sends cards to Google Chat, because `<users/all>` in plain text would notify everybody. A message
 * is limited to 32,000 bytes.
 */
export const googleChat = httpChannelKind({
  kind: "google_chat",
  title: "Google Chat",
  config: channelConfigs.google_chat,
  secrets: ["url"],
  spacingMs: 1_000,
  request: ({ url }, message) => ({
    method: "POST",
    url,
    body: {
      cardsV2: [
        {
          cardId: message.id,
          card: {
            header: { title: message.title, subtitle: message.workspace.name },
            sections: [
              {
                widgets: bodyLines(message).map((text) => ({
                  textParagraph: { text: escapeHtml(truncateBytes(text, 1_000)) }
                }))
              }
            ]
          }
        }
      ]
    }
  }),
  rules: { isGone: hasStatus(401, 403, 404) }
})
