import type { DeliveryKind } from "@scheduling/sdk"

/** The display names of channel kinds, spelled as their vendors spell them. */
export const channelKindNames = {
  email: "Email",
  webhook: "Webhook",
  slack: "Slack",
  discord: "Discord",
  teams: "Microsoft Teams",
  google_chat: "Google Chat",
  mattermost: "Mattermost",
  telegram: "Telegram",
  pagerduty: "PagerDuty",
  opsgenie: "Opsgenie",
  jira_service_management: "Jira Service Management",
  ntfy: "ntfy",
  gotify: "Gotify",
  pushover: "Pushover",
  twilio_sms: "SMS by Twilio",
  zulip: "Zulip",
  matrix: "Matrix",
  callback: "Callback"
} as const satisfies Readonly<Record<DeliveryKind, string>>
