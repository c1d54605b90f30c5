import { Effect, Schema } from "effect"
import { answerOf, goneAt, classify, type Kind, type ChannelResult } from "./Kind.ts"
import { basic, secret, word } from "./fields.ts"
import { alertOf, priorities } from "./opsgenie.ts"

const config = Schema.Struct({
  cloud_id: word(
    "The id of the Atlassian site",
    "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
    /^[0-9a-fA-F-]{36}$/
  ),
  email: word(
    "The address of the account of the API token",
    "ops@example.com",
    /^[^\s@:]+@[^\s@:]+$/
  ),
  api_token: secret("An API token of that account", "ATATT3xFfGF0abcdef"),
  priority: Schema.optionalKey(
    Schema.Literals(priorities).annotate({ description: "Of what fails. P2 when absent." })
  )
})

const rules = { gone: goneAt(401, 403) }

/** Closed by its id alone, so closing asks for the id first. An alert that is not there is closed. */
export const jiraServiceManagement: Kind = {
  kind: "jira_service_management",
  title: "Jira Service Management",
  config,
  secrets: ["api_token"],
  target: [],
  keepsIncidents: true,
  spacingMs: 250,
  send: ({ api_token, cloud_id, email, priority = "P2" }, message, { http }) => {
    const alerts = `https://api.atlassian.com/jsm/ops/api/${cloud_id}/v1/alerts`
    const headers = { authorization: basic(email, api_token), accept: "application/json" }
    const post = (url: string, body: object): Effect.Effect<ChannelResult> =>
      Effect.map(http({ method: "POST", url, headers, body }), (result) => classify(result, rules))
    if (message.tone !== "up") return post(alerts, alertOf(message, priority))
    return Effect.gen(function* () {
      const url = `${alerts}/alias?alias=${message.incident_key}`
      const found = yield* http({ method: "GET", url, headers })
      const sent = classify(found, rules)
      if (found.status_code === 404) {
        return { ...sent, outcome: "delivered" as const, error: null }
      }
      const { id } = answerOf(found).json
      if (sent.outcome !== "delivered") return sent
      if (typeof id !== "string" || !/^[\w-]+$/.test(id)) {
        return { ...sent, outcome: "again" as const, error: "the alert has no id" }
      }
      return yield* post(`${alerts}/${id}/close`, { note: message.title })
    })
  }
}
