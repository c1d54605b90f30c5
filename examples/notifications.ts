/** An alert for a failing task, and one for its recovery: `npx node examples/notifications.ts` */
import { unwrap } from "@scheduling/sdk/webhooks"
import { demoAccount, receiver } from "./support/demo.ts"

const client = await demoAccount()
let works = false
await using target = await receiver(() => ({ status: works ? 200 : 400 }))

const finished = Promise.withResolvers<void>()
await using inbox = await receiver(async ({ body, headers }) => {
  const event = await unwrap(body, headers, secrets)
  console.log(`${event.type}: ${event.data.notice?.title}`)
  // Events that happen together come as one message.
  const events = event.type === "digest" ? event.data.events : [event]
  if (events.some(({ type }) => type === "task.recovered")) finished.resolve()
  return { status: 200 }
})

const signing = await client.workspaces.getSigningSecrets({ url: inbox.url })
const secrets = signing.data.map(({ message_secret }) => message_secret)

const channel = await client.notifications.createChannel({
  name: "My inbox",
  kind: "webhook",
  config: { url: `${inbox.url}/alerts` }
})
const { version } = await client.notifications.getSettings()
await client.notifications.replaceSettings({
  version,
  group_seconds: 1,
  rules: [{ events: ["execution.failed", "task.recovered"], channel_ids: [channel.id] }]
})

const task = await client.cron.create({
  name: "Nightly report",
  url: `${target.url}/report`,
  schedule: "0 3 * * *"
})
await client.cron.runAndWait(task.id)
works = true
await client.cron.runAndWait(task.id)
await finished.promise
