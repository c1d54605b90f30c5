import type { DeliveryKind } from "@scheduling/domain/notifications/NotificationDelivery"
import type { ChannelKind } from "./ChannelKind.ts"
import { callback } from "./callback.ts"
import { discord } from "./discord.ts"
import { email } from "./email.ts"
import { googleChat } from "./googleChat.ts"
import { gotify } from "./gotify.ts"
import { jiraServiceManagement } from "./jiraServiceManagement.ts"
import { matrix } from "./matrix.ts"
import { mattermost } from "./mattermost.ts"
import { ntfy } from "./ntfy.ts"
import { opsgenie } from "./opsgenie.ts"
import { pagerduty } from "./pagerduty.ts"
import { pushover } from "./pushover.ts"
import { slack } from "./slack.ts"
import { teams } from "./teams.ts"
import { telegram } from "./telegram.ts"
import { twilioSms } from "./twilioSms.ts"
import { webhook } from "./webhook.ts"
import { zulip } from "./zulip.ts"

/** All kinds. Those that a channel can have are in the order in which the API lists them. */
export const channelKinds: Readonly<Record<DeliveryKind, ChannelKind>> = {
  email,
  webhook,
  slack,
  discord,
  teams,
  google_chat: googleChat,
  mattermost,
  telegram,
  pagerduty,
  opsgenie,
  jira_service_management: jiraServiceManagement,
  ntfy,
  gotify,
  pushover,
  twilio_sms: twilioSms,
  zulip,
  matrix,
  callback
}
