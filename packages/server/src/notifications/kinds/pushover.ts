import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { httpChannelKind } from "./ChannelKind.ts"
import { bodyLines } from "./Message.ts"
import { truncate } from "../../core/index.ts"
import { formBody, formHeaders } from "./fields.ts"

/**
 * Sends messages through Pushover. A 400 with `user: invalid` or `token: invalid` is final. A 429
 * means that the monthly quota is used up.
 */
export const pushover = httpChannelKind({
  kind: "pushover",
  title: "Pushover",
  config: channelConfigs.pushover,
  secrets: ["token", "user"],
  spacingMs: 1_000,
  request: ({ token, urgent = false, user }, message) => {
    const rings = urgent && message.tone === "down"
    return {
      method: "POST",
      url: "https://api.pushover.net/1/messages.json",
      headers: formHeaders,
      body: formBody({
        token,
        user,
        title: truncate(message.title, 250),
        message: truncate(bodyLines(message).join("\n"), 1_024),
        timestamp: String(Math.floor(message.created_at.getTime() / 1_000)),
        priority: rings ? "2" : message.tone === "down" ? "1" : "0",
        retry: rings ? "60" : undefined,
        expire: rings ? "3600" : undefined
      })
    }
  },
  rules: {
    isGone: ({ json, status }) =>
      status === 400 && (json["user"] === "invalid" || json["token"] === "invalid"),
    afterSeconds: ({ status }) => (status === 429 ? 3_600 : null)
  }
})
