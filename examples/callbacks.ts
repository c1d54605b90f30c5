/** A task that reports the result of each run to a program: `npx node examples/callbacks.ts` */
import { unwrap } from "@scheduling/sdk/webhooks"
import { demoAccount, receiver } from "./support/demo.ts"

const client = await demoAccount()
let rows = 0
await using target = await receiver(() => ({ status: rows === 0 ? 422 : 200 }))

const finished = Promise.withResolvers<void>()
await using program = await receiver(async ({ body, headers, path }) => {
  const event = await unwrap(body, headers, secrets)
  if (event.type === "execution.failed" || event.type === "execution.succeeded") {
    const { error, id } = event.data.execution
    console.log(`${path}: ${event.type}, ${id}, ${error?.message ?? "no error"}`)
  }
  if (path === "/done") finished.resolve()
  return { status: 200 }
})

const signing = await client.workspaces.getSigningSecrets({ url: program.url })
const secrets = signing.data.map(({ message_secret }) => message_secret)

const task = await client.cron.create({
  name: "Export",
  url: `${target.url}/export`,
  schedule: "0 3 * * *",
  on_failure: { url: `${program.url}/failed` },
  on_success: { url: `${program.url}/done` }
})
await client.cron.runAndWait(task.id)
rows = 42
await client.cron.runAndWait(task.id)
await finished.promise

const { data } = await client.notifications.listDeliveries({ kind: "callback" })
console.log(`${data.length} deliveries, ${data.map(({ status }) => status).join(" and ")}.`)
