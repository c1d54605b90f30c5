import { Effect, Schema } from "effect"
import { type Answer, answerOf, classify, type Kind } from "./Kind.ts"
import { plainText } from "./Message.ts"
import { cut } from "../../core/index.ts"
import { secret, word } from "./fields.ts"

const config = Schema.Struct({
  bot_token: secret(
    "The token of the bot: 123456:ABC…",
    "123456:AbCdEfGhIjKlMnOpQrStUvWxYz012345678",
    /^\d+:[A-Za-z0-9_-]{20,100}$/
  ),
  chat_id: word(
    "The id of the chat, or @name of a public channel",
    "-1001234567890",
    /^(?:-?\d{1,20}|@\w{3,64})$/
  ),
  thread_id: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 })).annotate({
      description: "The topic of a forum."
    })
  )
})

const parametersOf = ({ json }: Answer): Readonly<Record<string, unknown>> => {
  const { parameters } = json
  return typeof parameters === "object" && parameters !== null ? { ...parameters } : {}
}

/** 403: blocked, kicked or deactivated. 401 and 404: no such bot. 400 with "chat not found" is final. */
const isGone = ({ status, text }: Answer) =>
  status === 401 || status === 403 || status === 404 || /chat not found/i.test(text)

/** Plain text: no name in it is taken for markup. A group that became a supergroup has another id. */
export const telegram: Kind = {
  kind: "telegram",
  title: "Telegram",
  config,
  secrets: ["bot_token"],
  target: [],
  keepsIncidents: false,
  // Twenty a minute to a group.
  spacingMs: 3_000,
  send: ({ bot_token, chat_id, thread_id }, message, { http }) =>
    http({
      method: "POST",
      url: `https://api.telegram.org/bot${bot_token}/sendMessage`,
      body: {
        chat_id,
        text: cut(plainText(message), 4_096),
        link_preview_options: { is_disabled: true },
        ...(thread_id === undefined ? {} : { message_thread_id: thread_id })
      }
    }).pipe(
      Effect.map((result) => {
        const answer = answerOf(result)
        const { migrate_to_chat_id: moved, retry_after } = parametersOf(answer)
        const sent = classify(result, {
          gone: (one) => moved === undefined && isGone(one),
          again: () => moved !== undefined,
          refused: ({ json }) => json["ok"] === false,
          afterSeconds: () =>
            moved !== undefined ? 0 : typeof retry_after === "number" ? retry_after : null
        })
        return typeof moved === "number" || typeof moved === "string"
          ? { ...sent, changes: { chat_id: String(moved) } }
          : sent
      })
    )
}
