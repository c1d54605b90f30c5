/** Ten calls to a server that can handle two at once: `npx node examples/queue.ts` */
import { setTimeout } from "node:timers/promises"
import { demoAccount, receiver, until } from "./support/demo.ts"

const client = await demoAccount()
let open = 0
let most = 0
await using target = await receiver(async () => {
  most = Math.max(most, ++open)
  await setTimeout(50)
  open--
  return { status: 200 }
})

const queue = await client.queues.create({ name: "Billing server", max_concurrency: 2 })
const tasks = await Promise.all(
  Array.from({ length: 10 }, (_, n) =>
    client.delayed.create({
      name: `invoice ${n + 1}`,
      url: `${target.url}/invoices/${n + 1}`,
      delay_seconds: 0,
      queue_id: queue.id
    })
  )
)
const { running, waiting } = await client.queues.get(queue.id)
console.log(`${running} are active and ${waiting} wait.`)

for (const { id } of tasks) {
  await until(
    () => client.delayed.get(id),
    ({ status }) => status === "finished"
  )
}
console.log(`All ${tasks.length} have finished, at most ${most} at once.`)
