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

layer(
  testAppLayer({
    bootstrap,
    smtpUrl: Redacted.make("smtp://127.0.0.1:1"),
    mailFrom: "service@scheduling.test",
    publicUrl: "https://scheduling.test"
  })
)("the account of the settings", (it) => {
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

  it.effect("gets the alerts of its workspace by mail, like every other owner", () =>
    Effect.gen(function* () {
      const login = yield* ask("POST", "/v1/auth/login", { body: { email, password } })
      const token = login.body.access_token
      const workspaces = yield* ask("GET", "/v1/workspaces", { token })
      const notifications = `/v1/workspaces/${workspaces.body.data[0].id}/notifications`
      const channels = yield* ask("GET", `${notifications}/channels`, { token })
      const [channel] = channels.body.data
      assert.deepInclude(channel, { kind: "email", config: { to: email }, confirmed: true })
      const settings = yield* ask("GET", `${notifications}/settings`, { token })
      assert.deepStrictEqual(settings.body.rules[0].channel_ids, [channel.id])
    })
  )
})
