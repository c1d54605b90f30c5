import { Schema } from "effect"
import { goneAt, httpKind } from "./Kind.ts"
import { bodyLines } from "./Message.ts"
import { cutBytes, escapeHtml } from "../../core/index.ts"
import { providerUrl } from "./fields.ts"

/** A card, because in plain text `<users/all>` would call everybody. A message may have 32,000 bytes. */
export const googleChat = httpKind({
  kind: "google_chat",
  title: "Google Chat",
  config: Schema.Struct({
    url: providerUrl(
      "The URL of a space's webhook: https://chat.googleapis.com/…",
      "https://chat.googleapis.com/v1/spaces/AAAA/messages?key=abcdef&token=abcdef",
      "chat\\.googleapis\\.com"
    )
  }),
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
                  textParagraph: { text: escapeHtml(cutBytes(text, 1_000)) }
                }))
              }
            ]
          }
        }
      ]
    }
  }),
  rules: { gone: goneAt(401, 403, 404) }
})
