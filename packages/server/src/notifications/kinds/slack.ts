import { Schema } from "effect"
import { goneAt, httpKind } from "./Kind.ts"
import { bodyLines } from "./Message.ts"
import { cut } from "../../core/index.ts"
import { colors } from "../../mail/index.ts"
import { providerUrl } from "./fields.ts"

/** `&`, `<` and `>` are all that Slack reads: without them nothing mentions anybody or hides a link. */
const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** 404, 410 and 403 mean a webhook that was removed, or whose channel was archived or restricted. */
export const slack = httpKind({
  kind: "slack",
  title: "Slack",
  config: Schema.Struct({
    url: providerUrl(
      "The URL of an incoming webhook: https://hooks.slack.com/…",
      "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
      "hooks\\.slack(?:-gov)?\\.com"
    )
  }),
  secrets: ["url"],
  spacingMs: 1_000,
  request: ({ url }, message) => ({
    method: "POST",
    url,
    body: {
      text: escape(message.title),
      attachments: [
        {
          color: colors[message.tone],
          fallback: escape(message.title),
          text: cut(escape(bodyLines(message).join("\n")), 3_000),
          mrkdwn_in: []
        }
      ]
    }
  }),
  rules: {
    gone: (answer) => goneAt(403, 404, 410)(answer) || answer.text.includes("invalid_token")
  }
})
