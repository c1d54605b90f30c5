import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { Effect } from "effect"
import {
  readProviderResponse,
  hasStatus,
  classifyProviderResponse,
  type ChannelKind,
  type ChannelResult
} from "./ChannelKind.ts"
import { basicAuthorization } from "./fields.ts"
import { opsgenieAlertOf } from "./opsgenie.ts"

const rules = { isGone: hasStatus(401, 403) }

/**
 * Creates and closes alerts in Jira Service Management. An alert can be closed only by its id,
 * which must be looked up first. An alert that does not exist counts as closed.
 */
export const jiraServiceManagement: ChannelKind = {
  kind: "jira_service_management",
  title: "Jira Service Management",
  config: channelConfigs.jira_service_management,
  secrets: ["api_token"],
  target: [],
  keepsIncidents: true,
  spacingMs: 250,
  send: ({ api_token, cloud_id, email, priority = "P2" }, message, { http }) => {
    const alerts = `https://api.atlassian.com/jsm/ops/api/${cloud_id}/v1/alerts`
    const headers = {
      authorization: basicAuthorization(email, api_token),
      accept: "application/json"
    }
    const post = (url: string, body: object): Effect.Effect<ChannelResult> =>
      Effect.map(http({ method: "POST", url, headers, body }), (result) =>
        classifyProviderResponse(result, rules)
      )
    if (message.tone !== "up") return post(alerts, opsgenieAlertOf(message, priority))
    return Effect.gen(function* () {
      const url = `${alerts}/alias?alias=${message.incident_key}`
      const found = yield* http({ method: "GET", url, headers })
      const sent = classifyProviderResponse(found, rules)
      if (found.status_code === 404) {
        return { ...sent, outcome: "delivered" as const, error: null }
      }
      const { id } = readProviderResponse(found).json
      if (sent.outcome !== "delivered") return sent
      if (typeof id !== "string" || !/^[\w-]+$/.test(id)) {
        return { ...sent, outcome: "again" as const, error: "the alert has no id" }
      }
      return yield* post(`${alerts}/${id}/close`, { note: message.title })
    })
  }
}
