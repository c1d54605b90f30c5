import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { ask, statusAndError } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

const email = "operator@example.com"
const password = "a password of the settings"

const bootstrap = {
  email,
  password: Redacted.make(password),
  workspace: "Operations",
  apiKeyFile: undefined
}

layer(testAppLayer({ bootstrap }))("the account of the settings", (it) => {
  it.effect("exists with its workspace when the node accepts requests", () =>
    Effect.gen(function* () {
      const login = yield* ask("POST", "/v1/auth/login", { body: { email, password } })
      assert.strictEqual(statusAndError(login), "200")
      const { body } = yield* ask("GET", "/v1/workspaces", { token: login.body.access_token })
      assert.deepStrictEqual(
        body.data.map(({ name }: { readonly name: string }) => name),
        ["Operations"]
      )
    })
  )
})
