import type { NotificationKind } from "@scheduling/domain/notifications/NotificationChannel"
import type { Kind } from "./Kind.ts"
import { discord } from "./kinds/discord.ts"
import { email } from "./kinds/email.ts"
import { googleChat } from "./kinds/googleChat.ts"
import { gotify } from "./kinds/gotify.ts"
import { jiraServiceManagement } from "./kinds/jiraServiceManagement.ts"
import { matrix } from "./kinds/matrix.ts"
import { mattermost } from "./kinds/mattermost.ts"
import { ntfy } from "./kinds/ntfy.ts"
import { opsgenie } from "./kinds/opsgenie.ts"
import { pagerduty } from "./kinds/pagerduty.ts"
import { pushover } from "./kinds/pushover.ts"
import { slack } from "./kinds/slack.ts"
import { teams } from "./kinds/teams.ts"
import { telegram } from "./kinds/telegram.ts"
import { twilioSms } from "./kinds/twilioSms.ts"
import { webhook } from "./kinds/webhook.ts"
import { zulip } from "./kinds/zulip.ts"

/** In the order in which they are listed. */
export const kinds: Readonly<Record<NotificationKind, Kind>> = {
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
  matrix
}
