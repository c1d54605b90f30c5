import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import type { ChannelKind } from "./ChannelKind.ts"
import { alertMail } from "./alertMail.ts"

/**
 * Sends emails. A channel has only one address, so that a bounce or an unsubscription affects only
 * that address.
 */
export const email: ChannelKind = {
  kind: "email",
  title: "Email",
  config: channelConfigs.email,
  secrets: [],
  target: ["to"],
  keepsIncidents: false,
  spacingMs: 0,
  send: ({ to }, message, { link, mail }) => mail(alertMail(to, message, link("unsubscribe")))
}
