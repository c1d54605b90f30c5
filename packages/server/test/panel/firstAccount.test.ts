import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, statusAndError, registerAndLogIn } from "../support/http.ts"
import { startNode, TestApp, testAppLayer, testConfig } from "../support/TestApp.ts"

const asPanel = Effect.gen(function* () {
  const { url } = yield* TestApp
  const headers = { origin: url, "sec-fetch-site": "same-origin", "x-panel": "1" }
  return yield* ask("PUT", "/panel/session", { headers })
})

layer(testAppLayer())("a server without accounts", (it) => {
  it.effect(
    "reports that to its panel until the first account exists, if registration is open",
    () =>
      Effect.gen(function* () {
        const url = yield* startNode({ ...testConfig, registration: "closed" })
        const closed = yield* asPanel.pipe(
          Effect.provideService(TestApp, { url, otherUrl: url, logs: [] })
        )
        assert.strictEqual(statusAndError(closed), "204")

        const before = yield* asPanel
        assert.strictEqual(before.status, 200)
        assert.deepStrictEqual(before.body, { awaits_first_account: true })
        assert.strictEqual(before.headers.get("cache-control"), "no-store")
        assert.isNull(before.headers.get("set-cookie"))
        assert.strictEqual(
          statusAndError(yield* ask("PUT", "/panel/session")),
          "403 origin_refused"
        )

        yield* registerAndLogIn()
        assert.strictEqual(statusAndError(yield* asPanel), "204")
      })
  )
})
