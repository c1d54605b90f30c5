/** The same client as an Effect service, with its errors in the types: `npx node examples/effect-program.ts` */
import { SchedulingClient, WorkspaceId } from "@scheduling/sdk/effect"
import { Console, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { baseUrl, demoAccount } from "./support/demo.ts"

const program = Effect.fn("program")(function* (workspace_id: WorkspaceId) {
  const client = yield* SchedulingClient

  const chain = yield* client.chains
    .create({
      params: { workspace_id },
      headers: {},
      payload: { name: "nightly", steps: [{ name: "report", url: "https://example.com/report" }] }
    })
    .pipe(
      Effect.catchTag("QuotaExceeded", (error) =>
        Effect.die(`delete some chains first: ${error.message}`)
      )
    )
  yield* Console.log(`Made the chain "${chain.name}" with ${chain.steps.length} step.`)

  const refusal = yield* Effect.flip(
    client.workspaces.rename({ params: { workspace_id }, payload: { name: "Mine" } })
  )
  yield* Console.log(`A key cannot rename its workspace: ${refusal._tag}.`)
})

const person = await demoAccount()
const { key } = await person.apiKeys.create({
  name: "effect",
  scopes: ["tasks:read", "tasks:write"]
})
const workspaceId = WorkspaceId.make(await person.getWorkspaceId())

const ClientLayer = SchedulingClient.layer({ apiKey: Redacted.make(key), baseUrl }).pipe(
  Layer.provide(FetchHttpClient.layer)
)
await Effect.runPromise(program(workspaceId).pipe(Effect.provide(ClientLayer)))
