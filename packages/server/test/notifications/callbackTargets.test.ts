import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, signUp } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"

const url = "https://example.com/ok"
const inside = { url: "http://10.0.0.1/hook" }

const kinds = [
  ["cron", { name: "a", url, schedule: "0 0 1 1 *" }],
  ["delayed", { url, delay_seconds: 60 }],
  ["chains", { name: "a", steps: [{ name: "a", url }] }]
] as const

layer(testAppLayer())("a callback to a URL that may not be called", (it) => {
  it.effect.each(kinds)("is rejected as it is saved with a task of %s", ([path, task]) =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      const at = `${workspace}/${path}`
      const refused = yield* ask("POST", at, { token, body: { ...task, on_success: inside } })
      assert.strictEqual(refused.status, 422, refused.text)
      assert.include(refused.text, "on_success")
      const made = yield* ask("POST", at, { token, body: task })
      assert.strictEqual(made.status, 201, made.text)
      const changed = yield* ask("PATCH", `${at}/${made.body.id}`, {
        token,
        body: { on_failure: inside }
      })
      assert.strictEqual(changed.status, 422, changed.text)
      assert.include(changed.text, "on_failure")
    })
  )
})
