import type { SchedulingClient } from "@scheduling/sdk"

/** Creates a paused queue with waiting runs, and an idle queue. */
export const seedQueues = async (client: SchedulingClient, baseUrl: string): Promise<void> => {
  const { id } = await client.queues.create({ name: "Billing server", max_concurrency: 2 })
  await client.queues.pause(id)
  for (const name of ["Invoice Ada", "Invoice Grace", "Invoice Edsger"]) {
    await client.delayed.create({ name, url: `${baseUrl}/v1/echo`, delay_seconds: 0, queue_id: id })
  }
  await client.queues.create({ name: "Search index", max_concurrency: 4, rate_per_second: 0.2 })
}
