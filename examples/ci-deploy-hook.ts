/**
 * The last step of a deployment: runs a task by name and waits for its result, so that the pipeline
 * fails when the task does. In CI, use a key that may read and run tasks:
 *
 * SCHEDULING_API_KEY=pak_… npx node examples/ci-deploy-hook.ts "migrate the search index"
 *
 * Without a key it first creates an account and such a task, as a demonstration.
 */
import { InsufficientScopeError, InvalidApiKeyError, SchedulingClient } from "@scheduling/sdk"
import { baseUrl, demoAccount, hasEnded, receiver, until } from "./support/demo.ts"

const name = process.argv[2] ?? "migrate the search index"
await using target = await receiver(() => ({ status: 200 }))
const client = new SchedulingClient({
  baseUrl,
  apiKey: process.env["SCHEDULING_API_KEY"] ?? (await demoKey())
})

try {
  const { data } = await client.cron.list({ name, status: "active" })
  const task = data.find((candidate) => candidate.name === name)
  if (task === undefined) throw new Error(`There is no active cron task "${name}".`)

  // The commit is the idempotency key, so that a restarted pipeline does not run the task twice.
  const commit = process.env["GITHUB_SHA"] ?? crypto.randomUUID()
  const { id } = await client.cron.run(task.id, {}, { idempotencyKey: `deploy-${commit}` })
  const execution = await until(() => client.executions.get(id), hasEnded)
  console.log(
    `"${name}" ${execution.status}${execution.error === null ? "" : `: ${execution.error.message}`}.`
  )
  if (execution.status !== "succeeded") process.exitCode = 1
} catch (error) {
  process.exitCode = 1
  if (error instanceof InsufficientScopeError)
    console.error(`The key lacks the scope ${error.requiredScope}.`)
  else if (error instanceof InvalidApiKeyError)
    console.error("The key is not valid; create a new one.")
  else console.error(error instanceof Error ? error.message : error)
}

async function demoKey() {
  const person = await demoAccount()
  await person.cron.create({ name, url: target.url, schedule: "0 4 * * SUN" })
  const { key } = await person.apiKeys.create({
    name: "deployments",
    scopes: ["tasks:read", "tasks:write", "executions:read"]
  })
  return key
}
