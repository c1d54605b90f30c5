/** Verifies that a call really comes from the service: `npx node examples/webhook-receiver.ts` */
import { verify, WebhookVerificationError } from "@scheduling/sdk/webhooks"
import { demoAccount, hasEnded, receiver, until } from "./support/demo.ts"

const client = await demoAccount()

const done = new Set<string>()
await using target = await receiver(async ({ body, headers }) => {
  try {
    const { id, sentAt } = await verify(body, headers, secrets)
    // The id is the same for every attempt, so a receiver that remembers it works only once.
    console.log(`  verified ${id}, sent ${sentAt.toISOString()}${done.has(id) ? ", again" : ""}`)
    done.add(id)
    return { status: 200 }
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    console.log(`  rejected: ${error.reason}`)
    return { status: 401 }
  }
})

// Each receiver has a secret of its own, and two while they are rotated: it accepts either.
const { data } = await client.workspaces.getSigningSecrets({ url: target.url })
const secrets = data.map(({ call_secret }) => call_secret)

const { id: taskId } = await client.cron.create({
  name: "invoices",
  url: `${target.url}/invoices`,
  schedule: "0 6 1 * *",
  body: '{"month":"january"}'
})
const { id } = await client.cron.run(taskId)
const execution = await until(() => client.executions.get(id), hasEnded)
console.log(`The service says: ${execution.status}.`)

console.log("Somebody else sends the same body:")
const forged = await fetch(`${target.url}/invoices`, {
  method: "POST",
  body: '{"month":"january"}',
  headers: {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
    "webhook-signature": "v1,aGVsbG8="
  }
})
console.log(`They get ${forged.status}.`)
