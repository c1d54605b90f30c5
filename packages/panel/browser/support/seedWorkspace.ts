import type { SchedulingClient } from "@scheduling/sdk"
import { startAgent } from "./agent.ts"
import { poll } from "./poll.ts"

/** An open invitation and two workers, one of which checks a process. */
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
}
