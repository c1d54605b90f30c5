import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { hasStatus, httpChannelKind } from "./ChannelKind.ts"
import { bodyLines } from "./Message.ts"
import { truncate, truncateBytes } from "../../core/index.ts"
import { bearerHeaders } from "./fields.ts"

const tags = {
  down: "rotating_light",
  up: "white_check_mark",
  other: "information_source"
} as const
const priorities = { down: 4, up: 3, other: 3 } as const

/**
 * Sends messages through ntfy. ntfy sends no `Retry-After` with a 429, and its error code is 42908
 * if the daily quota is used up. A message of more than 4,096 bytes would become an attachment.
 */
export const ntfy = httpChannelKind({
  kind: "ntfy",
  title: "ntfy",
  config: channelConfigs.ntfy,
  secrets: ["token"],
  target: ["server"],
  spacingMs: 5_000,
  request: ({ server = "https://ntfy.sh", token, topic }, message) => ({
    method: "POST",
    url: server,
    headers: token === undefined ? {} : bearerHeaders(token),
    body: {
      topic,
      title: truncate(message.title, 250),
      message: truncateBytes(bodyLines(message).join("\n"), 4_000),
      priority: priorities[message.tone],
      tags: [tags[message.tone]]
    }
  }),
  rules: {
    isGone: hasStatus(401, 403),
    afterSeconds: ({ json, status }) =>
      status !== 429 ? null : json["code"] === 42_908 ? 3_600 : 10
  }
})
