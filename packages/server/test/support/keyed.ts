import { minimalChain as chain } from "../tasks/chains/chains.ts"
import { minimalCron as cronTask } from "../tasks/cron/tasks.ts"
import { minimalHeartbeat as heartbeat } from "../monitoring/monitors.ts"
import { webhookInput } from "../notifications/support/channels.ts"
import { type AskOptions, ask, type Member } from "./http.ts"
import { testNow } from "./TestApp.ts"

export const delayedTask = {
  url: "https://api.example.com/trials/ended",
  run_at: new Date(testNow + 86_400_000).toISOString()
}

interface KeyedKind {
  readonly path: string
  readonly definition: object
  readonly changes: object
  /** A field that the definition omits, a value for this field, and the field's default. */
  readonly absent?: readonly [string, unknown, unknown]
}

/** The kinds of records with caller-chosen keys. A process monitor also needs a worker's id. */
export const keyedKinds: ReadonlyArray<KeyedKind> = [
  {
    path: "cron",
    definition: cronTask,
    changes: { schedule: "0 4 * * *" },
    absent: ["timeout_seconds", 60, 30]
  },
  {
    path: "delayed",
    definition: delayedTask,
    changes: { run_at: new Date(testNow + 90_000_000).toISOString() },
    absent: ["retry_count", 2, 0]
  },
  {
    path: "chains",
    definition: chain,
    changes: { steps: [{ name: "other", url: "https://api.example.com/other" }] },
    absent: ["schedule", "0 5 * * *", null]
  },
  {
    path: "monitors/heartbeat",
    definition: heartbeat,
    changes: { period_seconds: 7200 },
    absent: ["grace_seconds", 60, 300]
  },
  {
    path: "monitors/ssl",
    definition: { name: "Website", host: "www.example.com" },
    changes: { protocol: "smtp", warn_days: [7, 14] },
    absent: ["tags", ["a", "b"], []]
  },
  {
    path: "monitors/process",
    definition: { name: "Database", match: { name: "postgres" } },
    changes: { match: { pid_file: "/run/postgres.pid" }, max_cpu_percent: 12.5 },
    absent: ["max_rss_bytes", 2 ** 40, null]
  },
  {
    path: "monitors/http",
    definition: { name: "Website", url: "https://www.example.com/health" },
    changes: { url: "https://www.example.com/", body_contains: "Welcome" },
    absent: ["confirm_after", 3, 2]
  },
  {
    path: "monitors/tcp",
    definition: { name: "Cache", host: "cache.example.com", port: 6379 },
    changes: { port: 6380, send: "PING\r\n" },
    absent: ["expect", "+PONG", null]
  },
  {
    path: "monitors/dns",
    definition: { name: "Records", host: "www.example.com" },
    changes: { record_type: "MX", expected_values: ["10 mail.example.com"] },
    absent: ["match", "exactly", "all"]
  },
  {
    path: "queues",
    definition: { name: "Billing server", max_concurrency: 2 },
    changes: { max_concurrency: 3 },
    absent: ["rate_per_second", 0.5, null]
  },
  {
    path: "notifications/channels",
    definition: webhookInput,
    changes: { config: { url: "https://alerts.example.com/other" } }
  }
]

/** Returns functions that send requests for records with keys, with the owner's token. */
export const keyedClientOf = ({
  access_token: token,
  workspace
}: Pick<Member, "workspace" | "access_token">) => {
  const at = (kind: string) => `${workspace}/${kind}`
  return {
    put: (kind: string, key: string, body: object, headers: AskOptions["headers"] = {}) =>
      ask("PUT", `${at(kind)}/by-key/${encodeURIComponent(key)}`, { token, body, headers }),
    create: (kind: string, body: object) => ask("POST", at(kind), { token, body }),
    patch: (kind: string, id: string, body: object, headers: AskOptions["headers"] = {}) =>
      ask("PATCH", `${at(kind)}/${id}`, { token, body, headers }),
    remove: (kind: string, id: string, headers: AskOptions["headers"] = {}) =>
      ask("DELETE", `${at(kind)}/${id}`, { token, headers }),
    get: (kind: string, id: string) => ask("GET", `${at(kind)}/${id}`, { token }),
    list: (kind: string, query = "") => ask("GET", `${at(kind)}${query}`, { token }),
    act: (kind: string, id: string, action: string) =>
      ask("POST", `${at(kind)}/${id}/${action}`, { token })
  }
}
