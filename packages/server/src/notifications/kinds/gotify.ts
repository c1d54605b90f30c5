import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { hasStatus, httpChannelKind } from "./ChannelKind.ts"
import { bodyLines } from "./Message.ts"
import { truncate } from "../../core/index.ts"
import { joinUrl } from "./fields.ts"

const priorities = { down: 8, up: 5, other: 4 } as const

export const gotify = httpChannelKind({
  kind: "gotify",
  title: "Gotify",
  config: channelConfigs.gotify,
  secrets: ["token"],
  target: ["server"],
  request: ({ server, token }, message) => ({
    method: "POST",
    url: joinUrl(server, "/message"),
    headers: { "x-gotify-key": token },
    body: {
      title: message.title,
      message: truncate(bodyLines(message).join("\n"), 8_000),
      priority: priorities[message.tone]
    }
  }),
  rules: { isGone: hasStatus(401, 403) }
})
