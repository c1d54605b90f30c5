import type { SchedulingClient } from "@scheduling/sdk"
import { startAgent } from "./agent.ts"
import { poll } from "./poll.ts"

/** Creates an open invitation and two workers. One of them checks a process and a target. */
export const seedWorkspace = async (client: SchedulingClient, baseUrl: string): Promise<void> => {
  await client.invitations.create({ email: "grace@example.com", role: "editor" })
  const office = await client.workers.create({ name: "Office, rack 2", labels: ["office", "gpu"] })
  const { id } = await client.workers.create({ name: "Warehouse", labels: ["warehouse"] })
  await client.workers.pause(id)
  const command = "server/src/main.ts"
  startAgent(baseUrl, office.token, ["--watch-command", command])
  const watched = await client.processMonitors.create({
    name: "Database of the office",
    tags: ["office"],
    worker_id: office.id,
    match: { command_contains: command },
    max_rss_bytes: 8_589_934_592,
    max_cpu_percent: 150
  })
  await poll(async () => (await client.processMonitors.get(watched.id)).last_report !== null)
  await seedPlaces(client, baseUrl)
}

/** Creates a monitor that is checked by the office's worker. Its other places have no worker. */
const seedPlaces = async (client: SchedulingClient, baseUrl: string): Promise<void> => {
  const { id } = await client.httpMonitors.create({
    name: "Intranet",
    url: `${baseUrl}/v1/echo`,
    places: [{ labels: ["office"] }, { labels: ["warehouse"] }, { labels: ["oslo", "rack-2"] }],
    down_when: "any"
  })
  await poll(async () => {
    const { place_results } = await client.httpMonitors.get(id)
    return place_results.some(({ last_check }) => last_check !== null)
  })
}
