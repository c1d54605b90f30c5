import { Schema } from "effect"
import { httpKind } from "./Kind.ts"
import { cut } from "../../core/index.ts"
import { secret } from "./fields.ts"

const hosts = { us: "events.pagerduty.com", eu: "events.eu.pagerduty.com" } as const

const severities = ["critical", "error", "warning", "info"] as const

/** 400 may be a wrong key or a message that they do not like: only the words for a key are final. */
export const pagerduty = httpKind({
  kind: "pagerduty",
  title: "PagerDuty",
  config: Schema.Struct({
    routing_key: secret(
      "The integration key of a service (Events API v2)",
      "R0123456789ABCDEFGHIJKLMNOPQRSTU",
      /^[A-Za-z0-9]{32}$/
    ),
    region: Schema.optionalKey(Schema.Literals(["us", "eu"])),
    severity: Schema.optionalKey(
      Schema.Literals(severities).annotate({ description: "Of what fails. `error` when absent." })
    )
  }),
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
              summary: cut(message.title, 1_024),
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
    gone: ({ status, text }) =>
      status === 401 ||
      status === 403 ||
      (status === 400 && /routing.?key|integration.?key/i.test(text))
  }
})
