import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { hasStatus, httpChannelKind } from "./ChannelKind.ts"
import { bodyLines, type Message } from "./Message.ts"
import { truncate } from "../../core/index.ts"

const hosts = { us: "api.opsgenie.com", eu: "api.eu.opsgenie.com" } as const

/** Returns an alert in the format of Opsgenie and Jira Service Management. */
export const opsgenieAlertOf = (message: Message, priority: string) => ({
  message: truncate(message.title, 130),
  alias: message.incident_key,
  description: truncate(bodyLines(message).join("\n"), 15_000),
  source: "scheduling-service",
  priority: message.tone === "down" ? priority : "P4"
})

/**
 * Sends alerts to Opsgenie, whose API will be shut down on 2027-04-05. The kind
 * `jira_service_management` is its successor.
 */
export const opsgenie = httpChannelKind({
  kind: "opsgenie",
  title: "Opsgenie (until April 2027)",
  config: channelConfigs.opsgenie,
  secrets: ["api_key"],
  keepsIncidents: true,
  spacingMs: 250,
  request: ({ api_key, priority = "P2", region = "us" }, message) => {
    const alerts = `https://${hosts[region]}/v2/alerts`
    const headers = { authorization: `GenieKey ${api_key}` }
    return message.tone === "up"
      ? {
          method: "POST",
          url: `${alerts}/${message.incident_key}/close?identifierType=alias`,
          headers,
          body: { source: "scheduling-service", note: message.title }
        }
      : { method: "POST", url: alerts, headers, body: opsgenieAlertOf(message, priority) }
  },
  rules: { isGone: hasStatus(401, 403) }
})
