import { Schema } from "effect"
import { httpKind } from "./Kind.ts"
import { bodyLines } from "./Message.ts"
import { cut, escapeMarkdown, withoutMentions } from "../../core/index.ts"
import { colors } from "../../mail/index.ts"
import { serverUrl } from "./fields.ts"

const safe = (text: string) => withoutMentions(escapeMarkdown(text))

/** A 404 is no reason to give it up: it is what a proxy answers while the server is down. */
export const mattermost = httpKind({
  kind: "mattermost",
  title: "Mattermost",
  config: Schema.Struct({
    url: serverUrl(
      "The URL of an incoming webhook: https://…/hooks/…",
      "https://chat.example.com/hooks/abcdefghijklmnopqrstuvwxyz"
    )
  }),
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
          text: cut(bodyLines(message).map(safe).join("\n"), 7_000)
        }
      ]
    }
  }),
  rules: { again: ({ status }) => status === 404 }
})
