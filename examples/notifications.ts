/** An alert for a failing task, and one for its recovery: `npx node examples/notifications.ts` */
import { demoAccount, receiver } from "./support/demo.ts"

const client = await demoAccount()
let works = false
await using target = await receiver(() => ({ status: works ? 200 : 400 }))

const received: Array<string> = []
const finished = Promise.withResolvers<void>()
await using inbox = await receiver(({ body }) => {
  const { events, title } = JSON.parse(body) as {
    readonly title: string
    readonly events: ReadonlyArray<{ readonly event: string }>
  }
  received.push(...events.map(({ event }) => event))
  console.log(`Received: ${title}`)
  if (received.includes("task.recovered")) finished.resolve()
  return { status: 200 }
})

const channel = await client.notifications.createChannel({
  name: "My inbox",
  kind: "webhook",
  config: { url: `${inbox.url}/alerts` }
})
const { version } = await client.notifications.settings()
await client.notifications.replaceSettings({
  version,
  group_seconds: 1,
  rules: [{ events: ["task.failed", "task.recovered"], channel_ids: [channel.id] }]
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
