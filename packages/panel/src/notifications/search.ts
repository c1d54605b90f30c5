import type { DeliveryKind, DeliveryStatus } from "@scheduling/sdk"
import { given, oneOf, textIn } from "../ui/lists/search.ts"

/** What the list of deliveries is narrowed to. */
export interface DeliverySearch {
  readonly kind?: DeliveryKind
  readonly status?: DeliveryStatus
  readonly channel_id?: string
}

const statuses = ["queued", "sending", "delivered", "failed", "cancelled", "dropped"] as const

const kinds = [
  "email",
  "webhook",
  "slack",
  "discord",
  "teams",
  "google_chat",
  "mattermost",
  "telegram",
  "pagerduty",
  "opsgenie",
  "jira_service_management",
  "ntfy",
  "gotify",
  "pushover",
  "twilio_sms",
  "zulip",
  "matrix",
  "callback"
] as const

export const deliverySearch = ({
  channel_id,
  kind,
  status
}: Record<string, unknown>): DeliverySearch =>
  given({
    kind: oneOf(kinds, kind),
    status: oneOf(statuses, status),
    channel_id: textIn(channel_id)
  })

export const newChannelSearch = ({ kind }: Record<string, unknown>): { readonly kind?: string } =>
  given({ kind: textIn(kind) })
