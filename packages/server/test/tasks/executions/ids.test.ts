import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, registerAndLogIn } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

const call = { url: "https://api.example.com/jobs" }

layer(testAppLayer())("the execution that a response names", (it) => {
  it.effect("can be read immediately, for each kind of task", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* registerAndLogIn()
      const created = (path: string, body: object) =>
        Effect.map(ask("POST", `${workspace}/${path}`, { token, body }), (answer) => answer.body)
      const run = (path: string, { id }: { readonly id: string }) =>
        created(`${path}/${id}/run`, {})

      const delayed = yield* created("delayed", { ...call, delay_seconds: 3600 })
      const cron = yield* created("cron", { ...call, name: "Nightly", schedule: "0 3 * * *" })
      const chain = yield* created("chains", {
        name: "Close the day",
        steps: [{ ...call, name: "close" }]
      })
      const [step] = (yield* run("chains", chain)).steps
      for (const [kind, task, execution] of [
        ["delayed", delayed, delayed.execution_id],
        ["cron", cron, (yield* run("cron", cron)).id],
        ["chain", chain, step.execution.id]
      ]) {
        const { body } = yield* ask("GET", `${workspace}/executions/${execution}`, { token })
        assert.deepStrictEqual([body.kind, body.task_id], [kind, task.id])
      }
      const moved = yield* run("delayed", delayed)
      const { body } = yield* ask("GET", `${workspace}/delayed/${delayed.id}`, { token })
      assert.strictEqual(body.status, "running")
      assert.strictEqual(body.execution_id, moved.id)
    })
  )
})
