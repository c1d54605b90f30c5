/** The same client as an Effect service, with its errors in the types: `npx node examples/effect-program.ts` */
import { SchedulingClient } from "@scheduling/sdk/effect"
import { Console, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { baseUrl, demoAccount } from "./support/demo.ts"

const program = Effect.fn("program")(function* (workspace_id: string) {
  const client = yield* SchedulingClient

  const when = { schedule: "30 9 * * MON-FRI", timezone: "Europe/Berlin" }
  const preview = yield* client.cron.preview({
    params: { workspace_id },
    query: { ...when, count: 3 }
  })
  yield* Console.log(`The next three: ${preview.data.map(({ local }) => local).join(", ")}.`)

  const task = yield* client.cron
    .create({
      params: { workspace_id },
      payload: { name: "morning report", url: "https://example.com/report", ...when }
    })
    .pipe(
      Effect.catchTag("QuotaExceeded", (error) =>
        Effect.die(`delete some tasks first: ${error.message}`)
      )
    )
  yield* Console.log(`Created the cron task "${task.name}", ${task.schedule} in ${task.timezone}.`)

  const rejection = yield* Effect.flip(
    client.workspaces.update({ params: { workspace_id }, payload: { name: "Mine" } })
  )
  yield* Console.log(`A key cannot rename its workspace: ${rejection._tag}.`)
})

const person = await demoAccount()
const { key } = await person.apiKeys.create({
  name: "effect",
  scopes: ["tasks:read", "tasks:write"]
})
const workspaceId = await person.getWorkspaceId()

const ClientLayer = SchedulingClient.layer({ apiKey: Redacted.make(key), baseUrl }).pipe(
  Layer.provide(FetchHttpClient.layer)
)
await Effect.runPromise(program(workspaceId).pipe(Effect.provide(ClientLayer)))
