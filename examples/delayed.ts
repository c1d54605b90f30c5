/** One call, two seconds from now: `npx node examples/delayed.ts` */
import { demoAccount, receiver, until } from "./support/demo.ts"

const client = await demoAccount()
await using target = await receiver(({ body }) => {
  console.log(`Called with ${body}.`)
  return { status: 200 }
})

const task = await client.delayed.create({
  name: "remind me",
  url: `${target.url}/reminders`,
  body: { text: "Two seconds are over" },
  delay_seconds: 2
})
console.log(`It will be called at ${task.run_at}.`)

const done = await until(
  () => client.delayed.get(task.id),
  ({ status }) => status === "finished"
)
const execution = await client.executions.get(done.last_run!.execution_id)
console.log(`It ${execution.status}, ${execution.lateness_ms} ms late.`)
