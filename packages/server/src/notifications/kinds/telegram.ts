import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { Effect } from "effect"
import { type Answer, answerOf, classify, type Kind } from "./Kind.ts"
import { plainText } from "./Message.ts"
import { truncate } from "../../core/index.ts"

const parametersOf = ({ json }: Answer): Readonly<Record<string, unknown>> => {
  const { parameters } = json
  return typeof parameters === "object" && parameters !== null ? { ...parameters } : {}
}

/**
 * 403: the bot is blocked or removed. 401 and 404: the bot does not exist. A 400 with "chat not
 * found" is final.
 */
const isGone = ({ status, text }: Answer) =>
  status === 401 || status === 403 || status === 404 || /chat not found/i.test(text)

/**
 * Sends plain text, so that no name is interpreted as markup. A group that becomes a supergroup
 * gets a new id.
 */
export const telegram: Kind = {
  kind: "telegram",
  title: "Telegram",
  config: channelConfigs.telegram,
  secrets: ["bot_token"],
  target: [],
  keepsIncidents: false,
  // Telegram allows 20 messages per minute to a group.
  spacingMs: 3_000,
  send: ({ bot_token, chat_id, thread_id }, message, { http }) =>
    http({
      method: "POST",
      url: `https://api.telegram.org/bot${bot_token}/sendMessage`,
      body: {
        chat_id,
        text: truncate(plainText(message), 4_096),
        link_preview_options: { is_disabled: true },
        ...(thread_id === undefined ? {} : { message_thread_id: thread_id })
      }
    }).pipe(
      Effect.map((result) => {
        const answer = answerOf(result)
        const { migrate_to_chat_id: moved, retry_after } = parametersOf(answer)
        const sent = classify(result, {
          isGone: (one) => moved === undefined && isGone(one),
          isRetryable: () => moved !== undefined,
          isRejected: ({ json }) => json["ok"] === false,
          afterSeconds: () =>
            moved !== undefined ? 0 : typeof retry_after === "number" ? retry_after : null
        })
        return typeof moved === "number" || typeof moved === "string"
          ? { ...sent, changes: { chat_id: String(moved) } }
          : sent
      })
    )
}
