/** Creates and runs a first cron task: `npx node examples/quickstart.ts` */
import { SchedulingClient } from "@scheduling/sdk"
import { baseUrl, demoAccount, hasEnded, until } from "./support/demo.ts"

// People log in. Scripts use a key of one workspace with the scopes that they need.
const person = await demoAccount()
const { key } = await person.apiKeys.create({
  name: "quickstart",
  scopes: ["tasks:read", "tasks:write", "executions:read"],
  expires_in_days: 1
})
const client = new SchedulingClient({ apiKey: key, baseUrl })
console.log(`Created an API key, ${key.slice(0, 12)}…`)

const task = await client.cron.create({
  name: "warm the cache",
  url: process.env["TARGET_URL"] ?? `${baseUrl}/v1/echo`,
  method: "GET",
  schedule: "*/5 9-17 * * MON-FRI",
  timezone: "Europe/Berlin",
  retry_count: 2
})
console.log(`Created the cron task "${task.name}"; it runs next at ${task.next_run_at}.`)

const { id } = await client.cron.run(task.id)
const execution = await until(() => client.executions.get(id), hasEnded)
console.log(
  `Ran it by hand: ${execution.status} in ${execution.duration_ms} ms, after ${execution.attempts.length} attempts.`
)
for (const { error, number, status_code } of execution.attempts) {
  console.log(`  attempt ${number}: ${error?.message ?? status_code}`)
}

for await (const { name, status } of client.cron.list())
  console.log(`In the workspace: "${name}", ${status}.`)
await client.cron.delete(task.id)
