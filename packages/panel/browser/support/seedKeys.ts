import { type ApiKeyInput, SchedulingClient } from "@scheduling/sdk"

const keys: ReadonlyArray<ApiKeyInput> = [
  { name: "Grafana", scopes: ["tasks:read", "executions:read", "monitors:read"] },
  { name: "Old laptop of Grace", scopes: ["tasks:read", "tasks:write"] },
  { name: "Backup scripts", scopes: ["monitors:read", "monitors:write"], expires_in_days: 365 },
  {
    name: "CI deploys",
    scopes: ["tasks:read", "tasks:write", "executions:read"],
    expires_in_days: 90,
    allowed_ips: ["127.0.0.0/8", "203.0.113.0/24"]
  }
]

/** Creates API keys: a used key, a revoked key and some unused keys. */
export const seedKeys = async (client: SchedulingClient, baseUrl: string): Promise<void> => {
  for (const input of keys) {
    const { id, key } = await client.apiKeys.create(input)
    if (input.name === "Old laptop of Grace") await client.apiKeys.revoke(id)
    if (input.name === "CI deploys") {
      await new SchedulingClient({ baseUrl, apiKey: key }).cron.list()
    }
  }
}
