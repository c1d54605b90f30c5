import type { CronTaskInput, SchedulingClient } from "@scheduling/sdk"
import { seedCallbacks } from "./seedCallbacks.ts"
import { seedKeys } from "./seedKeys.ts"
import { seedMonitors } from "./seedMonitors.ts"
import { seedQueues } from "./seedQueues.ts"
import { seedNotifications } from "./seedNotifications.ts"
import { seedSecrets } from "./seedSecrets.ts"
import { seedWorkspace } from "./seedWorkspace.ts"

const cronTasks: ReadonlyArray<Omit<CronTaskInput, "url"> & { readonly path: string }> = [
  { name: "Warm the product cache", schedule: "*/5 * * * *", path: "/v1/echo", timezone: "UTC" },
  {
    name: "Send the daily digest",
    schedule: "0 8 * * *",
    path: "/v1/echo",
    timezone: "Europe/Berlin"
  },
  {
    name: "Close stale carts",
    schedule: "30 * * * *",
    path: "/v1/echo",
    timezone: "America/New_York",
    body: '{"older_than_hours":48}'
  },
  { name: "Rebuild the search index", schedule: "0 3 * * 0", path: "/v1/echo", timezone: "UTC" },
  {
    name: "Charge renewals",
    schedule: "15 6 1 * *",
    path: "/nowhere",
    timezone: "UTC",
    retry_count: 0
  },
  { name: "Sync the CRM", schedule: "*/15 9-17 * * 1-5", path: "/v1/echo", timezone: "Asia/Tokyo" },
  { name: "Expire sessions", schedule: "*/10 * * * *", path: "/v1/echo", timezone: "UTC" },
  {
    name: "Weekly finance report",
    schedule: "0 7 * * 1",
    path: "/v1/echo",
    timezone: "Europe/London"
  }
]

/** Creates records of all kinds in a workspace. */
export const seed = async (client: SchedulingClient, baseUrl: string): Promise<void> => {
  await seedSecrets(client)
  await seedCallbacks(client)
  for (const { path, ...task } of cronTasks.toReversed()) {
    const { id } = await client.cron.create({
      headers: { authorization: "Bearer 3f9c..." },
      ...task,
      url: baseUrl + path
    })
    for (let runs = 0; runs < 3; runs++) await client.cron.runAndWait(id)
    if (task.name === "Sync the CRM") await client.cron.pause(id)
  }
  await client.delayed.create({
    name: "Remind Ada of her trial",
    url: `${baseUrl}/v1/echo`,
    delay_seconds: 7_200
  })
  await client.delayed.create({
    name: "Cancel order 4711",
    url: `${baseUrl}/v1/echo`,
    delay_seconds: 86_000
  })
  const { id } = await client.chains.create({
    name: "Nightly export",
    schedule: "0 2 * * *",
    timezone: "Europe/Berlin",
    steps: [
      { name: "login", url: `${baseUrl}/v1/echo`, body: '{"user":"exporter"}' },
      {
        name: "export",
        url: `${baseUrl}/v1/echo`,
        body: '{"answered":{{ steps.login.status }}}'
      },
      { name: "upload", url: `${baseUrl}/nowhere`, method: "PUT" },
      { name: "alert", url: `${baseUrl}/v1/echo`, run_if: "failure" }
    ]
  })
  await client.chains.runAndWait(id)
  await seedQueues(client, baseUrl)
  await seedKeys(client, baseUrl)
  await seedNotifications(client, baseUrl)
  await seedMonitors(client)
  await seedWorkspace(client, baseUrl)
}
