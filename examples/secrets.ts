/** A token that the server gets and nobody else sees: `npx node examples/secrets.ts` */
import { ConflictError } from "@scheduling/sdk"
import { demoAccount, receiver } from "./support/demo.ts"

const client = await demoAccount()
await using target = await receiver(({ headers, path }) => {
  console.log(`The server got ${headers.authorization} at ${path}.`)
  return { status: 200, body: { you_sent: headers.authorization } }
})

// A host without https:// stands for HTTPS, which the server of this example does not have.
const allowed_hosts = [target.url]
await client.secrets.upsert("API_TOKEN", { value: "t0ken-of-the-robot", allowed_hosts })
const task = await client.cron.create({
  name: "Nightly report",
  schedule: "0 3 * * *",
  url: `${target.url}/reports/{{ input.day }}`,
  auth: { kind: "bearer", token: "{{ secrets.API_TOKEN }}" }
})

const run = await client.cron.runAndWait(task.id, { input: { day: "2026-01-31" } })
console.log(`The execution shows ${run.attempts[0]?.response_body}.`)

// The next call uses the new value.
await client.secrets.upsert("API_TOKEN", { value: "another-t0ken", allowed_hosts })
await client.cron.runAndWait(task.id, { input: { day: "2026-02-01" } })

// No other server gets it.
await client.cron.update(task.id, { url: `${target.url.replace("127.0.0.1", "localhost")}/` })
const { error } = await client.cron.runAndWait(task.id)
console.log(`${error?.code}: ${error?.message}.`)

try {
  await client.secrets.delete("API_TOKEN")
} catch (conflict) {
  if (!(conflict instanceof ConflictError)) throw conflict
  console.log(conflict.reason)
}
