import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { Effect } from "effect"
import {
  type ProviderResponse,
  readProviderResponse,
  classifyProviderResponse,
  type ChannelKind
} from "./ChannelKind.ts"
import { plainText } from "./Message.ts"
import { truncate } from "../../core/index.ts"

const parametersOf = ({ json }: ProviderResponse): Readonly<Record<string, unknown>> => {
  const { parameters } = json
  return typeof parameters === "object" && parameters !== null ? { ...parameters } : {}
}

/**
 * Returns true if the bot or the chat is gone. 403: the bot is blocked or was removed. 401 and 404:
 * the bot does not exist. A 400 with "chat not found" is final too.
 */
const isGone = ({ status, text }: ProviderResponse) =>
  status === 401 || status === 403 || status === 404 || /chat not found/i.test(text)

/**
 * Sends messages through Telegram, as plain text, so that no name is interpreted as markup. A group
 * that becomes a supergroup has a new id.
 */
export const telegram: ChannelKind = {
  kind: "telegram",
  title: "Telegram",
  config: channelConfigs.telegram,
  secrets: ["bot_token"],
  target: [],
  keepsIncidents: false,
  // Telegram allows 20 messages per minute to each group.
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
        const answer = readProviderResponse(result)
        const { migrate_to_chat_id: moved, retry_after } = parametersOf(answer)
        const sent = classifyProviderResponse(result, {
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
