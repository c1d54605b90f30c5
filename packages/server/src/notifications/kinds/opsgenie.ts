import { Schema } from "effect"
import { goneAt, httpKind } from "./Kind.ts"
import { bodyLines, type Message } from "./Message.ts"
import { cut } from "../../core/index.ts"
import { secret } from "./fields.ts"

const hosts = { us: "api.opsgenie.com", eu: "api.eu.opsgenie.com" } as const

export const priorities = ["P1", "P2", "P3", "P4", "P5"] as const

/** The fields of an alert, as Opsgenie and its successor have them. */
export const alertOf = (message: Message, priority: string) => ({
  message: cut(message.title, 130),
  alias: message.incident_key,
  description: cut(bodyLines(message).join("\n"), 15_000),
  source: "scheduling-service",
  priority: message.tone === "down" ? priority : "P4"
})

/** Its API ends on 2027-04-05; `jira_service_management` takes its place. */
export const opsgenie = httpKind({
  kind: "opsgenie",
  title: "Opsgenie (until April 2027)",
  config: Schema.Struct({
    api_key: secret(
      "The key of an API integration",
      "eb243592-faa2-4ba2-a551-1afdf565c889",
      /^[A-Za-z0-9-]{8,100}$/
    ),
    region: Schema.optionalKey(Schema.Literals(["us", "eu"])),
    priority: Schema.optionalKey(
      Schema.Literals(priorities).annotate({ description: "Of what fails. P2 when absent." })
    )
  }),
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
      : { method: "POST", url: alerts, headers, body: alertOf(message, priority) }
  },
  rules: { gone: goneAt(401, 403) }
})
