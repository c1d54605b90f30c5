import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { testNow } from "../../support/TestApp.ts"
import { ask, type Member } from "../../support/http.ts"

type Owner = Pick<Member, "workspace" | "access_token">

export const webhookInput = {
  name: "ops",
  kind: "webhook",
  config: { url: "https://alerts.example.com/hook" }
}

/** Returns functions that send requests for a workspace's notifications, with the owner's token. */
export const notificationClientOf = ({ access_token: token, workspace }: Owner) => {
  const base = `${workspace}/notifications`
  return {
    create: (input: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", `${base}/channels`, { token, headers, body: { ...webhookInput, ...input } }),
    put: (key: string, definition: object) =>
      ask("PUT", `${base}/channels/by-key/${key}`, { token, body: definition }),
    list: (query = "") => ask("GET", `${base}/channels${query}`, { token }),
    get: (id: string) => ask("GET", `${base}/channels/${id}`, { token }),
    update: (id: string, changes: object) =>
      ask("PATCH", `${base}/channels/${id}`, { token, body: changes }),
    remove: (id: string) => ask("DELETE", `${base}/channels/${id}`, { token }),
    test: (id: string) => ask("POST", `${base}/channels/${id}/test`, { token }),
    settings: ask("GET", `${base}/settings`, { token }),
    replace: (settings: object) => ask("PUT", `${base}/settings`, { token, body: settings }),
    recipients: (query: string) => ask("GET", `${base}/recipients?${query}`, { token }),
    deliveries: (query = "") => ask("GET", `${base}/deliveries${query}`, { token }),
    delivery: (id: string) => ask("GET", `${base}/deliveries/${id}`, { token }),
    resend: (id: string, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", `${base}/deliveries/${id}/resend`, { token, headers }),
    kinds: ask("GET", `${base}/kinds`, { token })
  }
}

/** Inserts a delivery that has already been sent. */
export const insertDelivery = Effect.fnUntraced(function* (workspace: string, channel: string) {
  const sql = yield* SqlClient.SqlClient
  const id = `${testNow
    .toString(16)
    .padStart(12, "0")
    .replace(/(.{8})/, "$1-")}-7000-8000-${randomBytes(6).toString("hex")}`
  const event = {
    event: "execution.failed",
    subject_id: channel,
    name: "Nightly report",
    reason: "connection refused",
    at: new Date(testNow).toISOString(),
    facts: []
  }
  yield* sql`
    INSERT INTO notification_deliveries (
      id, workspace_id, channel_id, channel_kind, status, begun, ended, other, shown, subjects,
      mergeable, due_at, give_up_at, attempts_count, created_at, finished_at
    )
    VALUES (
      ${id}, ${workspace}, ${channel}, 'webhook', 'delivered', 1, 0, 0,
      ${JSON.stringify([event])}::jsonb, '{}', false, now(), now(), 1,
      ${new Date(testNow)}, ${new Date(testNow)}
    )`
  yield* sql`
    INSERT INTO notification_attempts (delivery_id, number, started_at)
    VALUES (${id}, 1, now())`
  return id
})
