import { serverUrl } from "@scheduling/domain/notifications/channelFields"
import { Effect, Schema } from "effect"
import { classifyProviderResponse, type ChannelKind } from "./ChannelKind.ts"
import { webhookBody } from "./webhook.ts"

/**
 * Sends a task's `on_failure` or `on_success` callback. A callback has no channel that could be
 * paused: its URL is stored in the delivery.
 */
export const callback: ChannelKind = {
  kind: "callback",
  title: "Callback",
  config: Schema.Struct({
    url: serverUrl("The URL of the callback.", "https://api.example.com/done")
  }),
  secrets: [],
  target: [],
  keepsIncidents: false,
  spacingMs: 0,
  send: ({ url }, message, { signedHttp }) =>
    Effect.map(signedHttp({ method: "POST", url, body: webhookBody(message) }), (result) =>
      classifyProviderResponse(result)
    )
}
