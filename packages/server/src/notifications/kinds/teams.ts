import { Schema } from "effect"
import { goneAt, httpKind } from "./Kind.ts"
import { bodyLines } from "./Message.ts"
import { cutBytes, escapeMarkdown } from "../../core/index.ts"
import { providerUrl } from "./fields.ts"

const tones = { down: "Attention", up: "Good", other: "Warning" } as const

/** A workflow answers 202 once the message is queued. A card may have 28 KB. */
export const teams = httpKind({
  kind: "teams",
  title: "Microsoft Teams",
  config: Schema.Struct({
    url: providerUrl(
      "The URL of a workflow that posts to a channel when a webhook request is received",
      "https://prod-01.westeurope.logic.azure.com/workflows/abcdef/triggers/manual/paths/invoke?sig=abcdef",
      "(?:[^/?#]+\\.)?(?:logic\\.azure\\.com|powerplatform\\.com|powerautomate\\.com)"
    )
  }),
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
                text: escapeMarkdown(cutBytes(text, 1_000)),
                wrap: true,
                spacing: "Small"
              }))
            ]
          }
        }
      ]
    }
  }),
  rules: { gone: goneAt(401, 404, 410) }
})
