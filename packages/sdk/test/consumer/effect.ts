/**
 * A user's program. It is type-checked here, and against the packed package by check-package.ts.
 */
import { SchedulingClient } from "@scheduling/sdk/effect"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"

const program = Effect.gen(function* () {
  const client = yield* SchedulingClient
  const workspace_id = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
  const task = yield* client.cron.create({
    params: { workspace_id },
    payload: {
      name: "Nightly report",
      url: "https://api.example.com/jobs/nightly",
      schedule: "0 3 * * *",
      timezone: "Europe/Berlin"
    }
  })
  yield* client.cron.get({ params: { workspace_id, task_id: task.id } })
  const tasks = yield* client.cron.list({ params: { workspace_id }, query: { limit: 1 } })
  const name = yield* client.workspaces.get({ params: { workspace_id } }).pipe(
    Effect.map((workspace) => workspace.name),
    Effect.catchTag("InsufficientScope", (error) => Effect.succeed(error.required_scope))
  )
  return [...tasks.data.map((task) => task.name), name]
})

export const main = (baseUrl: string): Promise<ReadonlyArray<string>> => {
  const client = SchedulingClient.layer({ apiKey: Redacted.make("pak_x"), baseUrl })
  const layer = client.pipe(Layer.provide(FetchHttpClient.layer))
  return Effect.runPromise(Effect.provide(program, layer))
}
