import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { hasStatus, httpChannelKind } from "./ChannelKind.ts"
import { bodyLines, plainText } from "./Message.ts"
import { truncate, escapeHtml } from "../../core/index.ts"
import { bearerHeaders, joinUrl } from "./fields.ts"

/**
 * Sends messages to a Matrix room. The delivery id is the transaction id, so that a retry posts no
 * second message.
 */
export const matrix = httpChannelKind({
  kind: "matrix",
  title: "Matrix",
  config: channelConfigs.matrix,
  secrets: ["access_token"],
  target: ["server"],
  spacingMs: 500,
  request: ({ access_token, room_id, server }, message) => ({
    method: "PUT",
    url: joinUrl(
      server,
      `/_matrix/client/v3/rooms/${encodeURIComponent(room_id)}/send/m.room.message/${message.id}`
    ),
    headers: bearerHeaders(access_token),
    body: {
      msgtype: message.tone === "down" ? "m.text" : "m.notice",
      body: truncate(plainText(message), 8_000),
      format: "org.matrix.custom.html",
      formatted_body: [
        `<strong>${escapeHtml(message.title)}</strong>`,
        ...bodyLines(message).map((text) => escapeHtml(truncate(text, 500)))
      ].join("<br>"),
      "m.mentions": {}
    }
  }),
  rules: {
    isGone: hasStatus(401, 403),
    afterSeconds: ({ json }) => {
      const ms = json["retry_after_ms"]
      return typeof ms === "number" && ms >= 0 ? Math.ceil(ms / 1_000) : null
    }
  }
})
