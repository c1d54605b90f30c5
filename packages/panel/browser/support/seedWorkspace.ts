import type { SchedulingClient } from "@scheduling/sdk"

/** An invitation that waits, and two workers. */
export const seedWorkspace = async (client: SchedulingClient): Promise<void> => {
  await client.invitations.create({ email: "grace@example.com", role: "editor" })
  await client.workers.create({ name: "Office, rack 2", labels: ["office", "gpu"] })
  const { id } = await client.workers.create({ name: "Warehouse", labels: ["warehouse"] })
  await client.workers.pause(id)
}
