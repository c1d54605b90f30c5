import { randomBytes } from "node:crypto"
import type { HeartbeatMonitorInput, SchedulingClient } from "@scheduling/sdk"
import { serveCertificate } from "./certificates.ts"
import { poll } from "./poll.ts"

const heartbeats: ReadonlyArray<
  HeartbeatMonitorInput & { readonly pings: ReadonlyArray<readonly [path: string, body: string]> }
> = [
  {
    name: "Sync of the warehouse",
    tags: ["stock"],
    period_seconds: 3_600,
    pings: []
  },
  {
    name: "Import of bank statements",
    tags: ["billing"],
    schedule: "0 6 * * 1-5",
    timezone: "Europe/Berlin",
    pings: [
      ["", "412 statements"],
      ["/1", "connect ETIMEDOUT 198.51.100.7:443"]
    ]
  },
  { name: "Old report", tags: ["reports"], period_seconds: 86_400, pings: [["", ""]] },
  {
    name: "Nightly backup",
    tags: ["billing", "nightly"],
    schedule: "0 3 * * *",
    timezone: "Europe/Berlin",
    grace_seconds: 600,
    max_duration_seconds: 7_200,
    pings: [
      ["/start", ""],
      ["/0", "wrote 41 GB to s3://backups/2026-11-22"],
      ["/log", "kept 30 days"]
    ]
  }
]

/** Creates monitors of all kinds: up, down, paused and new. */
export const seedMonitors = async (client: SchedulingClient): Promise<void> => {
  for (const { pings, ...input } of heartbeats) {
    const { id, ping_url } = await client.heartbeatMonitors.create(input)
    for (const [path, body] of pings) await fetch(ping_url + path, { method: "POST", body })
    if (input.name === "Old report") await client.heartbeatMonitors.pause(id)
  }
  const { id } = await client.sslMonitors.create({
    name: "Shop",
    tags: ["web"],
    host: "127.0.0.1",
    port: await serveCertificate("plain"),
    server_name: "www.acme.example"
  })
  await poll(async () => (await client.sslMonitors.get(id)).last_check_at !== null)
  await seedTargets(client)
  await client.maintenance.upsert("upgrade", {
    name: "Database upgrade",
    schedule: "0 2 * * sun",
    timezone: "Europe/Berlin",
    duration_seconds: 3_600,
    tags: ["database"]
  })
  await client.statusPages.upsert(`acme-${randomBytes(4).toString("hex")}`, {
    title: "Acme status",
    groups: [{ name: "Website", tags: ["web"] }]
  })
}

/** Starts the monitors' targets. All of them respond, except one. */
const seedTargets = async (client: SchedulingClient): Promise<void> => {
  const site = await client.httpMonitors.create({
    name: "Shop",
    tags: ["web"],
    url: "http://127.0.0.1:9/health",
    confirm_after: 1,
    body_contains: "ok",
    max_latency_ms: 2_000
  })
  const port = await serveCertificate("plain")
  const server = await client.tcpMonitors.create({
    name: "Cache",
    tags: ["web"],
    host: "127.0.0.1",
    port,
    interval_seconds: 10
  })
  const records = await client.dnsMonitors.create({
    name: "Records of the shop",
    host: "shop.invalid",
    expected_values: ["192.0.2.10", "192.0.2.11"],
    match: "exactly",
    timeout_seconds: 1,
    confirm_after: 1
  })
  await poll(async () => (await client.httpMonitors.get(site.id)).last_check !== null)
  await poll(async () => (await client.tcpMonitors.get(server.id)).last_check !== null)
  await poll(async () => (await client.dnsMonitors.get(records.id)).last_check !== null)
}
