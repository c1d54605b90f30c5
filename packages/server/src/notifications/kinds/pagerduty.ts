import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { httpChannelKind } from "./ChannelKind.ts"
import { truncate } from "../../core/index.ts"

const hosts = { us: "events.pagerduty.com", eu: "events.eu.pagerduty.com" } as const

/**
 * Sends events to PagerDuty. A 400 means that either the key is invalid or PagerDuty rejects the
 * message. Only an error about the key is final.
 */
export const pagerduty = httpChannelKind({
  kind: "pagerduty",
  title: "PagerDuty",
  config: channelConfigs.pagerduty,
  secrets: ["routing_key"],
  keepsIncidents: true,
  spacingMs: 500,
  request: ({ region = "us", routing_key, severity = "error" }, message) => ({
    method: "POST",
    url: `https://${hosts[region]}/v2/enqueue`,
    body: {
      routing_key,
      dedup_key: message.incident_key,
      ...(message.tone === "up"
        ? { event_action: "resolve" }
        : {
            event_action: "trigger",
            payload: {
              summary: truncate(message.title, 1_024),
              source: message.workspace.name,
              severity: message.tone === "down" ? severity : "warning",
              timestamp: message.created_at.toISOString(),
              custom_details: {
                lines: message.lines,
                ...Object.fromEntries(message.facts.map(({ name, value }) => [name, value]))
              }
            }
          })
    }
  }),
  rules: {
    isGone: ({ status, text }) =>
      status === 401 ||
      status === 403 ||
      (status === 400 && /routing.?key|integration.?key/i.test(text))
  }
})
