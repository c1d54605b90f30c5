import type { SchedulingClient } from "@scheduling/sdk"
import { poll } from "./poll.ts"
import { startReceiver } from "./startReceiver.ts"

/** Creates a rule, deliveries, and two channels, one of which fails. */
export const seedNotifications = async (
  client: SchedulingClient,
  baseUrl: string
): Promise<void> => {
  const pager = await startReceiver()
  Object.assign(pager.answer, { status: 503, body: "The pager is being restarted." })
  const chat = await startReceiver()
  const make = (name: string, url: string) =>
    client.notifications.createChannel({ name, kind: "webhook", config: { url } })
  const [night, day] = [await make("Pager", pager.url), await make("Operations", chat.url)]
  await client.notifications.test(night.id)
  await client.escalations.upsert("on-call", {
    name: "On call",
    steps: [
      { after_seconds: 0, channel_ids: [day.id] },
      { after_seconds: 900, channel_ids: [night.id] }
    ]
  })
  const { version } = await client.notifications.getSettings()
  await client.notifications.replaceSettings({
    version,
    rules: [
      {
        events: [
          "execution.failed",
          "task.recovered",
          "chain_run.failed",
          "incident.opened",
          "incident.closed"
        ],
        channel_ids: [day.id]
      },
      { events: ["incident.opened"], channel_ids: [night.id], tags: ["billing"] }
    ],
    quiet_hours: { timezone: "Europe/Berlin", from: "02:00", to: "02:01" }
  })
  const { id } = await client.cron.create({
    name: "Export of invoices",
    schedule: "0 5 * * *",
    url: `${baseUrl}/nowhere`,
    retry_count: 0
  })
  await client.cron.runAndWait(id)
  await poll(async () => {
    const { data } = await client.notifications.listDeliveries({ channel_id: day.id })
    return data.some(({ status }) => status === "delivered")
  })
}
